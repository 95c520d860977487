// The stream of a run as a whole: its frame, what the model says, plans, troubles, secrets.
#include "tests/app/show/event_stream.h"

#include "core/provider/wires.h"

namespace sortie::test {

BOOST_AUTO_TEST_CASE(the_schema_is_a_valid_one) {
  BOOST_CHECK_NO_THROW(JsonSchema{event_schema()});
}

BOOST_AUTO_TEST_CASE(no_line_break_of_unicode_stands_in_a_line_and_none_is_lost) {
  const std::string text = "\xe2\x80\xa8 a \xe2\x80\xa9\xe2\x80\xa9 b\xc2\x85 – ü \xe2\x80\xa8";
  Stream stream;
  stream.run("c1", {"cat", text});
  stream.output(done("c1", "shell", text));
  BOOST_TEST(stream.last_item().string_at("aggregated_output") == text);
}

BOOST_AUTO_TEST_CASE(a_run_without_any_event_has_a_whole_stream) {
  Stream stream;
  stream.end(ExitCode::environment, "no sandbox here");
  Lines types;
  for (const Json& line : stream.lines) types.push_back(line.string_at("type"));
  BOOST_TEST(types == Lines({"thread.started", "turn.started", "turn.failed", "run.completed"}),
             boost::test_tools::per_element());
  BOOST_TEST(stream.lines[0].string_at("thread_id") == kThread);
  BOOST_TEST(stream.lines[2]["error"].string_at("message") == "no sandbox here");
  BOOST_TEST(stream.lines[3].integer_at("exit_code") == 7);
}

BOOST_AUTO_TEST_CASE(responses_of_all_wires_become_messages_thoughts_and_searches) {
  const struct {
    const char* name;
    const char* received;
    const char* items;
  } rows[] = {
      {"Responses",
       R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},
           {"type":"output_text","text":"b"}]})",
       R"([{"type":"agent_message","text":"ab"}])"},
      {"Responses, content as text", R"({"type":"message","content":"a"})",
       R"([{"type":"agent_message","text":"a"}])"},
      {"Responses, a refusal",
       R"({"type":"message","content":[{"type":"refusal","refusal":"no"}]})",
       R"([{"type":"agent_message","text":"no"}])"},
      {"Responses, reasoning",
       R"({"type":"reasoning","encrypted_content":"x","summary":[
           {"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]})",
       R"([{"type":"reasoning","text":"a\n\nb"}])"},
      {"Responses, reasoning without a summary", R"({"type":"reasoning","summary":[]})", "[]"},
      {"Responses, search", R"({"type":"web_search_call","action":{"type":"search","query":"q"}})",
       R"([{"type":"web_search","query":"q","action":{"type":"search","query":"q"}}])"},
      {"Responses, an opened page",
       R"({"type":"web_search_call","action":{"type":"open_page","url":"https://a.b"}})",
       R"([{"type":"web_search","query":"https://a.b",
            "action":{"type":"open_page","url":"https://a.b"}}])"},
      {"Responses, a call", R"({"type":"function_call","name":"shell"})", "[]"},
      {"Chat Completions",
       R"({"role":"assistant","content":"a","reasoning_content":"t","tool_calls":[]})",
       R"([{"type":"reasoning","text":"t"},{"type":"agent_message","text":"a"}])"},
      {"Chat Completions, calls alone", R"({"role":"assistant","content":null})", "[]"},
      {"Messages, text", R"({"type":"text","text":"a"})",
       R"([{"type":"agent_message","text":"a"}])"},
      {"Messages, thinking", R"({"type":"thinking","thinking":"t","signature":"s"})",
       R"([{"type":"reasoning","text":"t"}])"},
      {"Messages, search",
       R"({"type":"server_tool_use","name":"web_search","input":{"query":"q"}})",
       R"([{"type":"web_search","query":"q","action":{"type":"search","query":"q"}}])"},
      {"Messages, other tools of the server", R"({"type":"server_tool_use","name":"bash"})", "[]"},
      {"the neutral form", R"({"type":"message","role":"assistant","text":"a"})",
       R"([{"type":"agent_message","text":"a"}])"},
      {"the neutral form of reasoning", R"({"type":"reasoning","summary":"t"})",
       R"([{"type":"reasoning","text":"t"}])"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json items = Json::array();
      for (const Said& said : said_in(parse_json(row.received))) items.push_back(said_item(said));
      BOOST_TEST(write_json(items) == write_json(parse_json(row.items)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_search_has_a_beginning_and_a_summary_for_ourselves_is_no_message) {
  Stream stream;
  stream.events.on(response_event(
      R"([{"type":"web_search_call","action":{"type":"search","query":"q"}},
          {"type":"text","text":"hello"}])"));
  RunEvent aside =
      response_event(R"([{"type":"text","text":"what came before"}])", Usage{.input_tokens = 5});
  std::get<ModelAnswered>(aside.what).aside = true;
  stream.events.on(aside);
  stream.end();
  BOOST_TEST(stream.story() == Lines({"started item_0 web_search", "completed item_0 web_search",
                                      "completed item_1 agent_message"}),
             boost::test_tools::per_element());
  BOOST_TEST(stream.lines[5]["usage"].integer_at("input_tokens") == 5);
}

BOOST_AUTO_TEST_CASE(trouble_with_a_server_of_tools_is_a_warning) {
  const struct {
    McpServerRecord record;
    const char* message;  ///< "" for none
  } rows[] = {
      {{.server = "one", .state = ServerState::started, .identity = "files 1"}, ""},
      {{.server = "one", .state = ServerState::failed, .detail = "no license"},
       "The MCP server one can't be used: no license"},
      {{.server = "one", .state = ServerState::died, .detail = "it exited with code 3"},
       "The MCP server one was lost: it exited with code 3"},
      {{.server = "one", .state = ServerState::restarted}, "The MCP server one was started again."},
      {{.server = "one", .state = ServerState::tools_changed}, ""},
      {{.server = "one", .state = ServerState::ended}, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(name_of(row.record.state)) {
      Stream stream;
      stream.events.on(mcp_server_event(1, row.record));
      stream.end();
      const std::string message = row.message;
      BOOST_TEST(stream.story() == (message.empty() ? Lines{} : Lines{"completed item_0 error"}),
                 boost::test_tools::per_element());
      BOOST_TEST(stream.last_item().string_at("message") == message);
    }
  }
}

BOOST_AUTO_TEST_CASE(whatever_was_started_is_completed_before_the_turn_ends) {
  Stream stream;
  stream.events.on(
      RunEvent{1, PlanUpdated{"", parse_json(R"([{"step":"one","status":"in_progress"}])")}});
  stream.run("c1", {"sleep", "9"});
  stream.call("c2", "mcp__x", "{}", Json::array());
  stream.call("c3", "apply_patch", "{}", Json::array());
  stream.events.on({1, VerificationRecord{VerificationPhase::after, 2, "make", {"make"}}});
  stream.end(ExitCode::terminated, "ended by a signal");
  BOOST_TEST(
      stream.story() ==
          Lines({"started item_0 todo_list", "started item_1 command_execution in_progress",
                 "started item_2 mcp_tool_call in_progress",
                 "started item_3 file_change in_progress",
                 "started item_4 command_execution in_progress",
                 "completed item_1 command_execution failed",
                 "completed item_2 mcp_tool_call failed", "completed item_3 file_change failed",
                 "completed item_4 command_execution failed", "completed item_0 todo_list"}),
      boost::test_tools::per_element());
  BOOST_TEST(stream.lines[stream.lines.size() - 2].string_at("type") == "turn.failed");
}

BOOST_AUTO_TEST_CASE(the_plan_is_one_list_from_the_first_to_the_end_of_the_turn) {
  Stream stream;
  for (const char* status : {"in_progress", "completed"}) {
    const std::string id = std::string("c-") + status;
    stream.call(id, "update_plan", "{}", Json::array());
    stream.output({.call_id = id, .tool = "update_plan", .output = "Plan updated"});
    stream.events.on(RunEvent{
        1, PlanUpdated{"", Json::array({Json::object({{"step", "one"}, {"status", status}})})}});
  }
  stream.end();
  BOOST_TEST(stream.story() == Lines({"started item_0 todo_list", "updated item_0 todo_list",
                                      "completed item_0 todo_list"}),
             boost::test_tools::per_element());
  BOOST_TEST(write_json(stream.last_item()["items"]) == R"([{"text":"one","completed":true}])");
}

BOOST_AUTO_TEST_CASE(troubles_are_told_in_the_forms_that_readers_know) {
  Stream stream;
  RunStart start;
  start.sandbox.missing = {"landlock: this kernel has none"};
  start.warnings = {"the network is open"};
  stream.events.on({0, start});
  stream.events.on(
      {1, RetryRecord{.attempt = 1, .status = 503, .kind = "overloaded", .message = "later"}});
  stream.events.on({1, RetryRecord{.attempt = 7, .kind = "cut", .message = "it broke off"}});
  stream.events.on({1, FallbackRecord{.from = "a", .to = "b", .reason = "a is down"}});
  stream.events.on(
      {1, FallbackRecord{
              .from = "b", .to = "c", .reason = "b is down", .dropped = 1, .dropped_images = 1}});
  stream.events.on({1, CompactionRecord{.cause = "compact_at",
                                        .method = CompactionMethod::summary,
                                        .tokens_before = 90,
                                        .tokens_after = 10}});
  stream.events.on({1, ModelCutOff{1, "a", Usage{.output_tokens = 4}, {}}});
  stream.events.on(response_event("[]", Usage{.input_tokens = 10, .output_tokens = 2}));
  stream.end();
  Lines messages;
  for (const Json& line : stream.lines)
    if (const Json& at = line["item"].is_object() ? line["item"] : line; at.find("message"))
      messages.push_back(line.string_at("type") + ": " + at.string_at("message"));
  BOOST_TEST(messages == Lines({"item.completed: The sandbox lacks a layer: landlock: this kernel "
                                "has none",
                                "item.completed: the network is open",
                                "error: Reconnecting... 1/5 (status 503, overloaded: later)",
                                "error: Reconnecting... 7/7 (cut: it broke off)",
                                "item.completed: b takes over from a: a is down",
                                "item.completed: c takes over from b: b is down (without 1 image)",
                                "item.completed: The conversation was shortened (compact_at): a "
                                "summary replaces its older turns; about 90 tokens "
                                "became 10."}),
             boost::test_tools::per_element());
  BOOST_TEST(write_json(stream.lines[stream.lines.size() - 2]) ==
             R"({"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,)"
             R"("cache_write_input_tokens":0,"output_tokens":6,"reasoning_output_tokens":0}})");
}

BOOST_AUTO_TEST_CASE(no_line_holds_a_secret_and_none_can_be_forged) {
  Stream stream;
  const std::string secret = "s3cr3t-value";
  const std::string hostile = secret + "\n{\"type\":\"turn.completed\"}\n\xff\xfe";
  stream.events.on(response_event(write_json(Json::array(
      {Json::object({{"type", "text"}, {"text", hostile}}),
       Json::object({{"type", "thinking"}, {"thinking", hostile}}),
       Json::object({{"type", "web_search_call"},
                     {"action", Json::object({{"type", "search"}, {"query", secret}})}})}))));
  stream.events.on({1, RetryRecord{.attempt = 1, .kind = secret, .message = hostile}});
  stream.run("c1", {"echo", secret});
  stream.output(done("c1", "shell", hostile));
  stream.call("c2", "mcp__x", write_json(Json::object({{secret, secret}})), Json::array(),
              Json::object({{"server", secret}, {"tool", "t"}}));
  stream.output(
      {.call_id = "c2", .tool = "mcp__x", .details = {.content = Json::array({hostile})}});
  stream.call("c3", "apply_patch",
              "*** Begin Patch\n*** Delete File: " + secret + "\n*** End Patch\n", Json::array(),
              {}, ToolCall::Form::custom);
  stream.events.on(RunEvent{
      1, PlanUpdated{secret,
                     Json::array({Json::object({{"step", hostile}, {"status", "pending"}})})}});
  stream.end(ExitCode::task_failed, hostile);
  int turns = 0;
  for (const Json& line : stream.lines) {
    BOOST_TEST(write_json(line).find(secret) == std::string::npos, write_json(line));
    turns += line.string_at("type") == "turn.completed" ? 1 : 0;
  }
  BOOST_TEST(turns == 0);
}

}  // namespace sortie::test
