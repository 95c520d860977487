#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/provider_run.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

ServedResponse stream_of(const std::string& wire, const std::string& told) {
  return served_stream(wire_stream(wire, parse_json(told)).text());
}

ServedResponse down() { return served_status(503, {}, R"({"error":{"message":"Down."}})"); }

/// The task's model with the server as fallback, spoken to in Chat Completions.
std::string with_fallback(const ModelServer& server, const std::string& more = {}) {
  return "retries: 0, fallback: [{provider: openai-chat, name: small-model, base_url: '" +
         base_url(server) + "', max_output_tokens: 77" + more + "}]";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fallback)

BOOST_AUTO_TEST_CASE(another_provider_takes_over_in_the_middle_of_a_run) {
  const ProviderRun run;
  const ModelServer first(
      {stream_of("responses", R"({"reasoning":"Hm","calls":[{"id":"c1","tool":"shell",)"
                              R"("arguments":{"command":["sh","-c","echo changed > a.txt"]}}]})"),
       down()});
  const ModelServer second({stream_of("chat", R"({"text":"done","model":"small-model"})")});
  run.write_model(with_fallback(second));

  const ProgramEnd end = run.run(first);

  check_end(run, end, 0, "success");
  BOOST_TEST(end.output == "done\n");
  BOOST_TEST(run.artifact("changes.diff").find("+changed") != std::string::npos);
  BOOST_REQUIRE(second.requests().size() == 1);
  BOOST_TEST(second.requests()[0].line == "POST /v1/chat/completions HTTP/1.1");
  const Json body = parse_json(second.requests()[0].body);
  BOOST_TEST(body.string_at("model") == "small-model");
  BOOST_TEST(second.requests()[0].body.find("77") != std::string::npos);
  BOOST_TEST(second.requests()[0].body.find("c2VjcmV0") == std::string::npos);
  const auto records = run.records("model.fallback");
  BOOST_REQUIRE(records.size() == 1);
  BOOST_TEST(records[0].string_at("from") == "openai gpt-5-codex");
  BOOST_TEST(records[0].string_at("to") == "openai-chat small-model");
  BOOST_TEST(records[0].integer_at("dropped_items") == 1);
  BOOST_TEST(end.errors.find("openai-chat small-model takes over from openai gpt-5-codex") !=
                 std::string::npos,
             end.errors);
}

BOOST_AUTO_TEST_CASE(a_flag_that_says_who_is_asked_leaves_the_tasks_fallback_out) {
  for (const bool by_address : {true, false}) {
    const ProviderRun run;
    const ModelServer first({down(), down()});
    const ModelServer second({stream_of("chat", R"({"text":"done","model":"small-model"})")});
    run.write_model(with_fallback(second));
    const std::vector<std::string> flags =
        by_address ? std::vector<std::string>{"--base-url", base_url(first)}
                   : std::vector<std::string>{"--provider", "openai"};

    const ProgramEnd end = run_program(run.start(base_url(first), flags));

    check_end(run, end, 10, "unavailable");
    BOOST_TEST(second.connections() == 0);
    BOOST_TEST(end.errors.find("model.fallback is ignored, since " + flags[0]) != std::string::npos,
               end.errors);
  }
}

BOOST_AUTO_TEST_CASE(where_all_have_failed_the_end_names_each) {
  const ProviderRun run;
  const ModelServer first({down()});
  const ModelServer second(
      {served_status(429, {}, R"({"error":{"code":"insufficient_quota","message":"Broke."}})")});
  run.write_model(with_fallback(second));

  const ProgramEnd end = run.run(first);

  check_end(run, end, 11, "limited");
  const std::string reason = run.result().string_at("reason");
  BOOST_TEST(reason.find("openai gpt-5-codex: ") != std::string::npos, reason);
  BOOST_TEST(reason.find("Down.") != std::string::npos, reason);
  BOOST_TEST(reason.find("openai-chat small-model: ") != std::string::npos, reason);
  BOOST_TEST(reason.find("Broke.") != std::string::npos, reason);
}

BOOST_AUTO_TEST_CASE(a_fallback_without_its_key_is_left_out_and_said) {
  const ProviderRun run;
  const ModelServer first({down()});
  run.write_model(
      "retries: 0, fallback: [{provider: openai, name: other, api_key_env: FALLBACK_TEST_KEY}]");

  const ProgramEnd end = run.run(first);

  check_end(run, end, 10, "unavailable");
  BOOST_TEST(end.errors.find("openai other is left out: the variable FALLBACK_TEST_KEY") !=
                 std::string::npos,
             end.errors);
  BOOST_TEST(run.records("model.fallback").empty());
}

BOOST_AUTO_TEST_CASE(a_fallback_takes_over_from_a_first_model_without_its_key) {
  const ProviderRun run;
  const ModelServer second({stream_of("chat", R"({"text":"done","model":"small-model"})")});
  run.write_model("api_key_env: FIRST_TEST_KEY, " + with_fallback(second));
  ProgramStart start = run.start("https://first.example/v1");

  const ProgramEnd end = run_program(start);

  check_end(run, end, 0, "success");
  BOOST_TEST(end.output == "done\n");
  const auto records = run.records("model.fallback");
  BOOST_REQUIRE(records.size() == 1);
  BOOST_TEST(records[0].string_at("from") == "openai gpt-5-codex");
  BOOST_TEST(records[0].string_at("to") == "openai-chat small-model");
  BOOST_TEST(records[0].string_at("reason") == "the variable FIRST_TEST_KEY has no key");
  BOOST_TEST(end.errors.find("the variable FIRST_TEST_KEY has no key; openai-chat small-model "
                             "takes over from openai gpt-5-codex") != std::string::npos,
             end.errors);
  const auto responses = run.records("model.response");
  BOOST_REQUIRE(responses.size() == 1);
  BOOST_TEST(responses[0].string_at("model") == "openai-chat small-model");
  BOOST_TEST(responses[0].integer_at("source") == 1);
}

BOOST_AUTO_TEST_CASE(where_no_model_has_a_key_the_run_does_not_start) {
  const ProviderRun run;
  run.write_model(
      "api_key_env: FIRST_TEST_KEY, fallback: [{provider: openai, name: other, api_key_env: "
      "FALLBACK_TEST_KEY}]");

  const ProgramEnd end = run_program(run.start("https://first.example/v1"));

  BOOST_TEST(end.status == 6, end.errors);
  BOOST_TEST(run.result().string_at("status") == "auth");
  BOOST_TEST(end.errors.find("no API key for first.example") != std::string::npos, end.errors);
  BOOST_TEST(end.errors.find("FIRST_TEST_KEY") != std::string::npos, end.errors);
  BOOST_TEST(!std::filesystem::exists(run.out() / "transcript.jsonl"));
}

BOOST_AUTO_TEST_CASE(a_fallbacks_key_goes_to_no_host_that_the_policy_does_not_name) {
  const ProviderRun run;
  const ModelServer first({down()});
  run.write_model(
      "retries: 0, fallback: [{provider: openai, name: other, base_url: 'https://a.example/v1', "
      "api_key_env: FALLBACK_TEST_KEY}]");
  ProgramStart start = run.start(base_url(first));
  start.environment["FALLBACK_TEST_KEY"] = "sk-fallback-key-0123456789";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(end.errors.find("FALLBACK_TEST_KEY") != std::string::npos, end.errors);
  BOOST_TEST(end.errors.find("a.example") != std::string::npos, end.errors);
  BOOST_TEST(first.requests().empty());
}

BOOST_AUTO_TEST_CASE(no_command_sees_the_key_of_a_fallback) {
  const ProviderRun run;
  const std::string key = "sk-fallback-key-0123456789";
  const ModelServer first(
      {stream_of("responses",
                 R"({"calls":[{"id":"c1","tool":"shell","arguments":{"command":["env"]}}]})"),
       stream_of("responses", R"({"text":"done"})")});
  run.write_model("retries: 0, fallback: [{provider: openai, name: other, base_url: '" +
                  base_url(first) + "', api_key_env: FALLBACK_TEST_TOKEN}]");
  run.write("policy.yaml",
            "version: 1\nextends: auto\nenvironment: {include: [FALLBACK_TEST_TOKEN]}\n"
            "bounds: {credentials: {FALLBACK_TEST_TOKEN: ['127.0.0.1:" +
                std::to_string(first.port()) + "']}}\n");
  ProgramStart start = run.start(base_url(first), {"--policy", run.path("policy.yaml").string()});
  start.environment["FALLBACK_TEST_TOKEN"] = key;

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(run.output(0).find("PATH=") != std::string::npos);
  BOOST_TEST(run.all_written(end).find(key) == std::string::npos);
  for (const auto& request : first.requests())
    BOOST_TEST(request.body.find("FALLBACK_TEST_TOKEN=") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
