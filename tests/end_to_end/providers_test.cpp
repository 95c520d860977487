#include <boost/test/unit_test.hpp>
#include <regex>

#include "tests/end_to_end/provider_run.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

struct Provider {
  const char* name;
  const char* wire;
  const char* variable;  ///< of its key; "" for none
  const char* header;
  std::string key;      ///< what the header has
  const char* address;  ///< below the server's
  const char* target;
};

const Provider kProviders[] = {
    {"openai", "responses", "OPENAI_API_KEY", "Authorization", "Bearer sk-openai-0123456789", "/v1",
     "/v1/responses"},
    {"openai-chat", "chat", "OPENAI_API_KEY", "Authorization", "Bearer sk-openai-0123456789",
     "/v1/", "/v1/chat/completions"},
    {"anthropic", "messages", "ANTHROPIC_API_KEY", "x-api-key", "sk-ant-0123456789", "",
     "/v1/messages"},
    {"azure", "responses", "AZURE_OPENAI_API_KEY", "api-key", "azure-0123456789",
     "/openai?api-version=2025-04-01-preview", "/openai/responses?api-version=2025-04-01-preview"},
    {"local", "chat", "", "", "", "", "/v1/chat/completions"},
};

/// Every provider's key is there; only its own may be sent.
void give_all_keys(ProgramStart& start) {
  start.environment["OPENAI_API_KEY"] = "sk-openai-0123456789";
  start.environment["ANTHROPIC_API_KEY"] = "sk-ant-0123456789";
  start.environment["AZURE_OPENAI_API_KEY"] = "azure-0123456789";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json call(const char* id, const char* tool, Json arguments) {
  return Json::object({{"id", id}, {"tool", tool}, {"arguments", std::move(arguments)}});
}

Json shell(const char* id, const char* script) {
  return call(id, "shell", Json::object({{"command", Json::array({"sh", "-c", script})}}));
}

Json reads(const char* id, const char* tool, const char* path) {
  return call(id, tool, Json::object({{"path", path}}));
}

/// Tool calls of each kind, alone and in parallel, one that fails, words and thoughts in between.
std::vector<Json> eventful_turns() {
  const std::string patch =
      "*** Begin Patch\n*** Update File: a.txt\n-a\n+by \"patch\" \xC3\xA9\n*** Add File: "
      "c.txt\n+c\n"
      "*** End Patch";
  return {
      Json::object({{"reasoning", "I have to look around first."},
                    {"text", "I look around."},
                    {"calls", Json::array({shell("call_1", "echo by shell > b.txt; cat a.txt"),
                                           reads("call_2", "read_file", "a.txt")})}}),
      Json::object(
          {{"calls", Json::array({Json::object(
                         {{"id", "call_3"}, {"tool", "apply_patch"}, {"input", patch}})})}}),
      Json::object(
          {{"reasoning", "Some of them will fail."},
           {"text", "One fails.\n"},
           {"calls", Json::array({shell("call_4", "exit 3"), reads("call_5", "read_file", "none"),
                                  reads("call_6", "list_dir", ".")})}}),
      Json::object({{"text", "All is done: \"a\", b."}, {"piece", 3}}),
  };
}

std::vector<ServedResponse> served_in(std::string_view wire, const std::vector<Json>& turns) {
  std::vector<ServedResponse> responses;
  for (const Json& turn : turns) responses.push_back(served_stream(wire_stream(wire, turn).text()));
  return responses;
}

/// A response of these words alone.
std::vector<ServedResponse> says(std::string_view wire, const char* text) {
  return served_in(wire, {Json::object({{"text", text}})});
}

/// The texts that tools gave back, by the calls' ids, as the last request has them.
std::map<std::string, std::string> outputs_sent(const std::string& wire, const Json& body) {
  std::map<std::string, std::string> outputs;
  if (wire == "responses")
    for (const Json& item : body["input"].items())
      if (item.find("output")) outputs[item.string_at("call_id")] = item.string_at("output");
  for (const Json& message : body["messages"].items()) {
    if (message.string_at("role") == "tool")
      outputs[message.string_at("tool_call_id")] = message.string_at("content");
    for (const Json& block : message["content"].items())
      if (block.string_at("type") == "tool_result")
        outputs[block.string_at("tool_use_id")] = block.string_at("content");
  }
  // One run may take a tenth of a second longer than another.
  static const std::regex time("Wall time: [0-9.]+ seconds");
  for (auto& [id, output] : outputs) output = std::regex_replace(output, time, "Wall time");
  return outputs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(providers)

BOOST_AUTO_TEST_CASE(each_provider_is_asked_at_its_place_with_its_own_key_alone) {
  for (const Provider& provider : kProviders) {
    BOOST_TEST_CONTEXT(provider.name) {
      const ProviderRun run;
      run.write_task("provider: " + std::string(provider.name) + ", name: some-model");
      const ModelServer server(says(provider.wire, "done"));
      ProgramStart start = run.start(server.url() + provider.address);
      give_all_keys(start);

      const ProgramEnd end = run_program(start);

      check_end(run, end, 0, "success");
      BOOST_TEST(end.output == "done\n");
      BOOST_REQUIRE(server.requests().size() == 1u);
      const ReceivedRequest request = server.requests().front();
      BOOST_TEST(request.line == "POST " + std::string(provider.target) + " HTTP/1.1");
      for (const char* header : {"Authorization", "x-api-key", "api-key"})
        BOOST_TEST(header_value(request.headers, header) ==
                   (std::string(header) == provider.header ? provider.key : ""));
      const bool messages = std::string(provider.wire) == "messages";
      BOOST_TEST(header_value(request.headers, "anthropic-version") ==
                 (messages ? "2023-06-01" : ""));
      BOOST_TEST(header_value(request.headers, "originator") == (messages ? "" : "sortie"));
      BOOST_TEST(parse_json(request.body).string_at("model") == "some-model");
      for (const char* key : {"sk-openai-0123456789", "sk-ant-0123456789", "azure-0123456789"})
        BOOST_TEST(!holds(request.body + run.all_written(end), key));
      const auto requests = run.records("model.request");
      BOOST_REQUIRE(requests.size() == 1u);
      BOOST_TEST(requests[0].string_at("provider") == provider.name);
      BOOST_TEST(requests[0].string_at("wire") == provider.wire);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_same_task_gives_the_same_diff_through_every_wire) {
  std::string diff;
  std::map<std::string, std::string> outputs;
  for (const Provider& provider : kProviders) {
    BOOST_TEST_CONTEXT(provider.name) {
      const ProviderRun run;
      run.write_task("provider: " + std::string(provider.name) + ", name: gpt-5-codex");
      const ModelServer server(served_in(provider.wire, eventful_turns()));
      ProgramStart start = run.start(server.url() + provider.address);
      give_all_keys(start);

      const ProgramEnd end = run_program(start);

      check_end(run, end, 0, "success");
      BOOST_TEST(run.records("check.hit").empty());
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 4u);
      const auto sent = outputs_sent(provider.wire, parse_json(requests.back().body));
      BOOST_TEST(sent.size() == 6u);
      if (diff.empty()) {
        diff = run.artifact("changes.diff");
        outputs = sent;
        BOOST_TEST(holds(diff, "+by shell"), diff);
        BOOST_TEST(holds(diff, "+by \"patch\" \xC3\xA9"), diff);
        BOOST_TEST(holds(diff, "+c\n"), diff);
      }
      BOOST_TEST(run.artifact("changes.diff") == diff);
      BOOST_TEST((sent == outputs));
      BOOST_TEST(end.output == "All is done: \"a\", b.\n");
      // A transcript of each wire is a recording, too.
      const std::string transcript = run.out() / "transcript.jsonl";
      const ProgramEnd again = run.RunFolder::run({"--replay", transcript});
      check_end(run, again, 0, "success");
      BOOST_TEST(run.artifact("changes.diff") == diff);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_provider_without_an_address_or_with_a_key_too_many_is_a_usage_error) {
  const struct {
    const char* model;
    std::vector<std::string> flags;
    const char* problem;
  } rows[] = {
      {"provider: azure, name: gpt-5", {}, "base_url"},
      {"provider: local, name: qwen3, api_key_env: HOME", {}, "never sends a key"},
      {"provider: local, name: qwen3", {"--api-key-file", "/dev/null"}, "never sends a key"},
      {"provider: openai", {"--api-key-file", "/dev/null", "--api-key-fd", "0"}, "not both"},
      {"fallback: [{provider: azure, name: gpt-5}]", {}, "model.fallback: azure gpt-5"},
      {"provider: anthropic, headers: {X-Api-Key: k}", {}, "X-Api-Key"},
      {"provider: anthropic, headers: {anthropic-version: '1'}", {}, "anthropic-version"},
      {"provider: openai", {"--provider", "antropic"}, "did you mean 'anthropic'?"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.model) {
      const ProviderRun run;
      run.write_task(row.model);
      ProgramStart start = run.RunFolder::start(row.flags);

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(holds(end.errors, row.problem), end.errors);
    }
  }
}

// A service container is the usual place of a model in CI: no name there is loopback's.
BOOST_AUTO_TEST_CASE(a_host_without_tls_is_asked_where_the_operator_or_the_policy_names_it) {
  const std::string local = "provider: local, name: qwen3, retries: 0";
  const std::string keyed = "provider: openai-chat, name: qwen3, retries: 0";
  const std::string at = ", base_url: 'http://llm.invalid:8000/v1'";
  const struct {
    std::string name;
    std::string model;
    std::vector<std::string> flags;
    std::string bounds;
    int code;  ///< 10: it was asked, and there is no such host
  } rows[] = {
      {"local, by the task alone", local + at, {}, "", 2},
      {"local, by the policy", local + at, {}, "model_hosts: ['llm.invalid:8000']", 10},
      {"local, another port", local + at, {}, "model_hosts: ['llm.invalid:80']", 2},
      {"local, by a flag", local, {"--base-url", "http://llm.invalid:8000/v1"}, "", 10},
      {"key, by the task alone", keyed + at, {}, "", 2},
      {"key, by a flag alone", keyed, {"--base-url", "http://llm.invalid:8000/v1"}, "", 2},
      {"key, by a host that is meant with TLS",
       keyed + at,
       {},
       "credentials: {OPENAI_API_KEY: ['llm.invalid:8000']}",
       2},
      {"key, by the policy",
       keyed + at,
       {},
       "credentials: {OPENAI_API_KEY: ['http://llm.invalid:8000']}",
       10},
      {"key, by the policy and a flag",
       keyed,
       {"--base-url", "http://llm.invalid:8000/v1"},
       "credentials: {OPENAI_API_KEY: ['http://llm.invalid:8000']}",
       10},
      {"key, for all hosts below",
       keyed + at,
       {},
       "credentials: {OPENAI_API_KEY: ['http://*.invalid:8000']}",
       2},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write("policy.yaml", "version: 1\nextends: auto\nbounds: {" + row.bounds + "}\n");
      run.write("task.yaml",
                "version: 1\nprompt: go\npolicy: policy.yaml\nmodel: {" + row.model + "}\n");
      ProgramStart start = run.RunFolder::start(row.flags);
      start.environment["OPENAI_API_KEY"] = "sk-of-the-test";

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == row.code, end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_address_of_the_operator_is_the_first_models_alone) {
  const ProviderRun run;
  const ModelServer fallback(says("messages", "by the fallback"));
  const ModelServer first({served_status(503, {}, "down"), served_status(503, {}, "down")});
  run.write("task.yaml",
            "version: 1\nprompt: Do it.\nworkspace: {path: work}\npolicy: policy.yaml\n"
            "expect: {changes: any}\nmodel: {retries: 0, fallback: [{provider: anthropic, "
            "name: claude-sonnet-4-5, retries: 0, base_url: '" +
                fallback.url() + "'}]}\n");
  run.write("policy.yaml",
            "version: 1\nextends: auto\nbounds: {credentials: {OPENAI_API_KEY: [api.openai.com], "
            "ANTHROPIC_API_KEY: ['127.0.0.1:" +
                std::to_string(fallback.port()) + "']}}\n");
  ProgramStart start = run.start(base_url(first));
  give_all_keys(start);

  const ProgramEnd end = run_program(start);

  check_end(run, end, 0, "success");
  BOOST_TEST(end.output == "by the fallback\n");
  BOOST_TEST(first.requests().size() == 1u);
  BOOST_REQUIRE(fallback.requests().size() == 1u);
  const ReceivedRequest request = fallback.requests().front();
  BOOST_TEST(request.line == "POST /v1/messages HTTP/1.1");
  BOOST_TEST(header_value(request.headers, "x-api-key") == "sk-ant-0123456789");
  BOOST_TEST(header_value(request.headers, "Authorization") == "");
}

BOOST_AUTO_TEST_CASE(the_bounds_hold_for_fallbacks_too) {
  const ProviderRun run;
  run.write("policy.yaml", "version: 1\nextends: auto\nbounds: {models: ['openai/*']}\n");
  run.write_task("fallback: [{provider: anthropic, name: claude-sonnet-4-5}]");
  const ModelServer server(says("responses", "done"));

  const ProgramEnd end = run.run(server, {"--policy", run.path("policy.yaml")});

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(holds(end.errors, "anthropic/claude-sonnet-4-5"), end.errors);
  BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
