#include <boost/test/unit_test.hpp>

#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

std::string chat_stream(const std::string& id, const Json& delta, const char* reason) {
  const auto chunk = [&id](Json choices) {
    return Json::object({{"id", id},
                         {"object", "chat.completion.chunk"},
                         {"model", "house-1"},
                         {"choices", std::move(choices)}});
  };
  const auto choice = [](const Json& said, const Json& finish) {
    return Json::array({Json::object({{"index", 0}, {"delta", said}, {"finish_reason", finish}})});
  };
  Json last = chunk(Json::array());
  last.set("usage", parse_json(R"({"prompt_tokens":100,"completion_tokens":10})"));
  std::string text;
  for (const Json& event :
       {chunk(choice(delta, {})), chunk(choice(Json::object(), reason)), std::move(last)})
    text += "data: " + write_json(event) + "\n\n";
  return text + "data: [DONE]\n\n";
}

Json function(const std::string& name, const Json& arguments) {
  return Json::object({{"name", name}, {"arguments", write_json(arguments)}});
}

const std::string kPatch = "*** Begin Patch\n*** Update File: a.txt\n-a\n+by patch\n*** End Patch";

/// A run's responses: text with two calls, one that can't be used, a patch, the end.
std::vector<std::string> chat_streams(bool legacy) {
  const auto call = [legacy](const std::string& id, int index, const Json& made) {
    return legacy ? made
                  : Json::object(
                        {{"index", index}, {"id", id}, {"type", "function"}, {"function", made}});
  };
  const auto calls = [legacy](std::vector<Json> made) {
    return legacy
               ? Json::object({{"content", "Now."}, {"function_call", made.front()}})
               : Json::object({{"content", "Now."}, {"tool_calls", Json::array(std::move(made))}});
  };
  const Json shell = function("shell", parse_json(R"({"command":["sh","-c","echo x > b.txt"]})"));
  const Json plan = function("update_plan", parse_json(R"({"plan":[]})"));
  const Json odd = Json::object({{"name", "shell"}, {"arguments", "{\"command\":"}});
  const Json patch = function("apply_patch", Json::object({{"input", kPatch}}));
  const char* reason = legacy ? "function_call" : "tool_calls";
  return {chat_stream("c1", calls({call("k1", 0, shell), call("k2", 1, plan)}), reason),
          chat_stream("c2", calls({call("k3", 0, odd)}), reason),
          chat_stream("c3", calls({call("k4", 0, patch)}), reason),
          chat_stream("c4", Json::object({{"content", "done"}}), "stop")};
}

std::vector<ServedResponse> served_all(const std::vector<std::string>& streams) {
  std::vector<ServedResponse> responses;
  for (const auto& stream : streams) responses.push_back(served_stream(stream));
  return responses;
}

/// A Responses stream of these items.
std::string items_stream(const std::string& items) {
  return "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[" + items +
         "],\"usage\":{\"input_tokens\":9,\"output_tokens\":1,\"total_tokens\":10}}}\n\n";
}

const std::string kDone =
    R"({"type":"message","id":"m","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"done"}]})";

std::vector<std::string> tool_types(const ReceivedRequest& request) {
  std::vector<std::string> types;
  const Json body = parse_json(request.body);
  for (const Json& tool : body["tools"].items())
    types.push_back(tool.string_at("type") == "function" ? tool.string_at("name")
                                                         : tool.string_at("type"));
  return types;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wires)

BOOST_AUTO_TEST_CASE(a_run_over_chat_completions_makes_its_diff_and_can_be_replayed) {
  for (const bool legacy : {false, true}) {
    BOOST_TEST_CONTEXT("legacy " << legacy) {
      const ProviderRun run;
      run.write_task(std::string("provider: openai-chat, name: house, legacy_functions: ") +
                     (legacy ? "true" : "false"));
      const ModelServer server(served_all(chat_streams(legacy)));
      const std::string cassette = run.path("recorded.jsonl");

      const ProgramEnd end = run.run(server, {"--record", cassette});

      check_end(run, end, 0, "success");
      const std::string diff = run.artifact("changes.diff");
      BOOST_TEST(diff.find("+by patch") != std::string::npos, diff);
      BOOST_TEST(diff.find("b/b.txt") != std::string::npos, diff);
      BOOST_TEST(run.records("check.hit").size() == 1u);
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 4u);
      std::string before;
      for (const auto& request : requests) {
        BOOST_TEST(request.line == "POST /v1/chat/completions HTTP/1.1");
        BOOST_REQUIRE(request.body.ends_with("]}"));
        BOOST_TEST(request.body.starts_with(before));
        before = request.body.substr(0, request.body.size() - 2);
      }
      const auto outputs = run.records("tool.output");
      BOOST_TEST(outputs.size() == (legacy ? 3u : 4u));
      const auto responses = run.records("model.response");
      BOOST_TEST(responses.front()["items"].items().at(0).string_at("role") == "assistant");

      // The second time from the run that the new one sets aside: it is read before.
      for (const auto& recording : {cassette, (run.out() / "transcript.jsonl").string()}) {
        BOOST_TEST_CONTEXT(recording) {
          const ProgramEnd again = run.RunFolder::run({"--replay", recording});

          check_end(run, again, 0, "success");
          BOOST_TEST(run.artifact("changes.diff") == diff);
          BOOST_TEST(run.records("check.hit").size() == 1u);
          const auto repeated = run.records("tool.output");
          BOOST_REQUIRE(repeated.size() == outputs.size());
          for (std::size_t i = 0; i < outputs.size(); ++i)
            BOOST_TEST(repeated[i].string_at("call_id") == outputs[i].string_at("call_id"));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_knows_local_shell_is_offered_it_in_place_of_shell) {
  const ProviderRun run;
  run.write_task("name: codex-mini-latest");
  const std::string call =
      R"({"id":"lsh_1","type":"local_shell_call","status":"completed","call_id":"call_1","action":{"type":"exec","command":["sh","-c","echo x > b.txt"],"env":{}}})";
  const ModelServer server({served_stream(items_stream(call)), served_stream(items_stream(kDone))});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  BOOST_TEST(run.artifact("changes.diff").find("b/b.txt") != std::string::npos);
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 2u);
  BOOST_TEST(has(tool_types(requests[0]), "local_shell"));
  BOOST_TEST(!has(tool_types(requests[0]), "shell"));
  const Json body = parse_json(requests[1].body);
  const auto& input = body["input"].items();
  BOOST_TEST(write_json(input[input.size() - 2]) == call);
  BOOST_TEST(input.back().string_at("type") == "local_shell_call_output");
  BOOST_TEST(input.back().string_at("call_id") == "call_1");
  BOOST_TEST(run.records("approval").at(0).string_at("tool") == "local_shell");
}

BOOST_AUTO_TEST_CASE(web_search_is_declared_only_where_the_task_asks_for_it) {
  const std::string search =
      R"({"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}})";
  const std::string call =
      R"({"id":"fc","type":"function_call","status":"completed","call_id":"c","name":"shell","arguments":"{\"command\":[\"true\"]}"})";
  for (const bool asked : {false, true}) {
    const ProviderRun run;
    run.write_task("", asked ? "tools: {enable: [shell, web_search]}\n" : "");
    const ModelServer server(
        {served_stream(items_stream(search + "," + call)), served_stream(items_stream(kDone))});

    const ProgramEnd end = run.run(server);

    check_end(run, end, 0, "success");
    const auto requests = server.requests();
    BOOST_REQUIRE(requests.size() == 2u);
    BOOST_TEST(has(tool_types(requests[0]), "web_search") == asked);
    BOOST_TEST(requests[1].body.find(search) != std::string::npos);
    BOOST_TEST(write_json(run.records("model.response").at(0)["items"].items().at(0)) == search);
  }
}

BOOST_AUTO_TEST_SUITE_END()
