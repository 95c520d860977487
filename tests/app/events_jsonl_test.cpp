#include "app/events_jsonl.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "app/event_items.h"
#include "app/event_schema.h"
#include "core/base/json_schema.h"
#include "core/base/text.h"

namespace sortie::test {
namespace {

constexpr const char* kThread = "01234567-89ab-7cde-8123-456789abcdef";

/// A stream and what it has shown; each line fits the schema.
struct Stream {
  Redactor redactor{{{"A_TOKEN", "s3cr3t-value"}}};
  std::vector<Json> lines;
  EventsJsonl events{{kThread, 5}, redactor, [this](std::string line) { take(line); }};

  void take(const std::string& line) {
    static const JsonSchema schema(event_schema());
    BOOST_TEST(line.find('\n') == line.size() - 1);
    for (const char* other_break : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
      BOOST_TEST(line.find(other_break) == std::string::npos);
    lines.push_back(parse_json(line));
    BOOST_TEST(describe(schema.check(lines.back())) == "", line);
  }
  void call(const std::string& id, const std::string& tool, const std::string& arguments,
            Json actions = {}, Json origin = {}, ToolCall::Form form = ToolCall::Form::function) {
    const ToolCall call{id, tool, arguments, form};
    if (actions.is_array())
      events.on(approval_event(1, call, std::move(actions), Json::object({{"decision", "allow"}})));
    events.on(tool_call_event(1, call, std::move(origin)));
  }
  void run(const std::string& id, std::vector<Json> argv, const std::string& tool = "shell") {
    call(id, tool, "{}",
         Json::array({Json::object({{"kind", "call_tool"}, {"name", tool}}),
                      Json::object({{"kind", "run_command"}, {"argv", Json::array(argv)}})}));
  }
  void output(const ToolOutputRecord& record) { events.on(tool_output_event(1, record)); }
  void end(ExitCode code = ExitCode::success, const std::string& reason = "done") {
    RunEnd end;
    end.code = code;
    end.reason = reason;
    end.usage = end.durations = end.counts = Json::object();
    RunEvent event = run_completed_event(1, end);
    event.data.set("next", "");
    event.data.set("retry_after_s", Json());
    event.data.set("out", "/out");
    events.end(event);
  }
  /// "started item_0 command_execution in_progress", of all lines that are about items.
  std::vector<std::string> story() const {
    std::vector<std::string> list;
    for (const Json& line : lines) {
      const std::string type = line.string_at("type");
      const Json& item = line["item"];
      if (!item.is_object()) continue;
      list.push_back(type.substr(5) + " " + item.string_at("id") + " " + item.string_at("type") +
                     (item.find("status") ? " " + item.string_at("status") : ""));
    }
    return list;
  }
  /// The item of the last line that is about one.
  Json last_item() const {
    Json last;
    for (const Json& line : lines)
      if (line["item"].is_object()) last = line["item"];
    return last;
  }
};

ExitStatus exit_of(Ending ending, int code) {
  ExitStatus status;
  status.ending = ending;
  status.code = code;
  return status;
}

ToolOutputRecord done(const std::string& id, const std::string& tool, const std::string& output) {
  return {.call_id = id, .tool = tool, .exit = exit_of(Ending::exited, 0), .output = output};
}

RunEvent response_event(const std::string& items, Usage usage = {}) {
  RunEvent event = model_response_event(1, Response{.usage = usage});
  event.data.set("items", parse_json(items));
  return event;
}

using Lines = std::vector<std::string>;

}  // namespace

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
      const Json items = Json::array(response_items(parse_json(row.received)));
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
  aside.data.set("aside", true);
  stream.events.on(aside);
  stream.end();
  BOOST_TEST(stream.story() == Lines({"started item_0 web_search", "completed item_0 web_search",
                                      "completed item_1 agent_message"}),
             boost::test_tools::per_element());
  BOOST_TEST(stream.lines[5]["usage"].integer_at("input_tokens") == 5);
}

BOOST_AUTO_TEST_CASE(a_command_has_its_line_its_output_and_how_it_ended) {
  const struct {
    const char* name;
    std::optional<ExitStatus> exit;
    bool success;
    int code;
    const char* status;
    const char* reason;
  } rows[] = {
      {"ended well", exit_of(Ending::exited, 0), true, 0, "completed", ""},
      {"ended badly", exit_of(Ending::exited, 3), false, 3, "failed", ""},
      {"a signal", exit_of(Ending::signalled, 11), false, 139, "failed", ""},
      {"its time limit", exit_of(Ending::timed_out, 9), false, 124, "failed", "timed_out"},
      {"too much output", exit_of(Ending::output_limit, 9), false, 137, "failed", "output_limit"},
      {"no such program", exit_of(Ending::not_started, 0), false, -1, "failed", "not_started"},
      {"a stop", exit_of(Ending::cancelled, 0), false, 130, "failed", "cancelled"},
      {"unusable arguments", {}, false, -1, "failed", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Stream stream;
      stream.run("c1", {"sh", "-c", "echo 'it' > a b", ""});
      const Json started = stream.last_item();
      stream.output({.call_id = "c1",
                     .tool = "shell",
                     .success = row.success,
                     .exit = row.exit,
                     .output = "hi\n"});
      const Json item = stream.last_item();
      stream.end();
      BOOST_TEST(started.string_at("command") == R"(sh -c 'echo '\''it'\'' > a b' '')");
      BOOST_TEST(started["exit_code"].is_null());
      BOOST_TEST((started.find("exit_code") != nullptr));
      BOOST_TEST(item.string_at("aggregated_output") == "hi\n");
      BOOST_TEST(item.integer_at("exit_code", -99) == row.code);
      BOOST_TEST(item.string_at("status") == row.status);
      BOOST_TEST(item.string_at("reason") == row.reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_denied_call_is_declined_with_the_reason_whatever_it_is) {
  const struct {
    const char* tool;
    const char* arguments;
    const char* type;
  } rows[] = {
      {"shell", R"({"command":["rm","x"]})", "command_execution"},
      {"exec_command", R"({"cmd":"rm x"})", "command_execution"},
      {"apply_patch", R"({"input":"*** Begin Patch\n*** Delete File: a\n*** End Patch"})",
       "file_change"},
      {"mcp__files__remove", R"({"path":"a"})", "mcp_tool_call"},
      {"update_plan", R"({"plan":[]})", "mcp_tool_call"},
      {"write_stdin", R"({"session_id":1,"chars":"x"})", "mcp_tool_call"},
      {"run_tests", "{}", "mcp_tool_call"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.tool) {
      Stream stream;
      stream.call("c1", row.tool, row.arguments);
      stream.output({.call_id = "c1",
                     .tool = row.tool,
                     .success = false,
                     .output = "Denied: no rule",
                     .verdict = "denied",
                     .declined = "no rule"});
      stream.end();
      BOOST_TEST(
          stream.story() == Lines({std::string("started item_0 ") + row.type + " in_progress",
                                   std::string("completed item_0 ") + row.type + " declined"}),
          boost::test_tools::per_element());
      BOOST_TEST(stream.last_item().string_at("reason") == "no rule");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_patch_shows_its_changes_and_both_paths_of_a_move) {
  const std::string patch =
      "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** Update File: c\n"
      "*** Move to: d/c\n@@\n-1\n+2\n*** End Patch\n";
  const std::string changes = R"([{"path":"a","kind":"add"},{"path":"b","kind":"delete"},)"
                              R"({"path":"c","kind":"update","move_path":"d/c"}])";
  const std::string in_shell =
      write_json(Json::object({{"command", "cd sub && apply_patch <<'EOF'\n" + patch + "EOF\n"}}));
  const struct {
    const char* name;
    std::string tool;
    std::string arguments;
    ToolCall::Form form;
    std::string changes;
  } rows[] = {
      {"free text", "apply_patch", patch, ToolCall::Form::custom, changes},
      {"a function", "apply_patch", write_json(Json::object({{"input", patch}})),
       ToolCall::Form::function, changes},
      {"in a shell call", "shell", in_shell, ToolCall::Form::function,
       R"([{"path":"sub/a","kind":"add"},{"path":"sub/b","kind":"delete"},)"
       R"({"path":"sub/c","kind":"update","move_path":"sub/d/c"}])"},
      {"no patch", "apply_patch", "*** Begin", ToolCall::Form::custom, "[]"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Stream stream;
      stream.call("c1", row.tool, row.arguments,
                  Json::array({Json::object({{"kind", "write_path"}, {"path", "a"}})}), {},
                  row.form);
      stream.output({.call_id = "c1", .tool = row.tool, .output = "Success."});
      stream.end();
      BOOST_TEST(stream.story() == Lines({"started item_0 file_change in_progress",
                                          "completed item_0 file_change completed"}),
                 boost::test_tools::per_element());
      BOOST_TEST(write_json(stream.last_item()["changes"]) == row.changes);
    }
  }
}

BOOST_AUTO_TEST_CASE(trouble_with_a_server_of_tools_is_a_warning) {
  const struct {
    McpServerRecord record;
    const char* message;  ///< "" for none
  } rows[] = {
      {{.server = "one", .state = "started", .identity = "files 1"}, ""},
      {{.server = "one", .state = "failed", .detail = "no license"},
       "The MCP server one can't be used: no license"},
      {{.server = "one", .state = "died", .detail = "it exited with code 3"},
       "The MCP server one was lost: it exited with code 3"},
      {{.server = "one", .state = "restarted"}, "The MCP server one was started again."},
      {{.server = "one", .state = "tools_changed"}, ""},
      {{.server = "one", .state = "ended"}, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.record.state) {
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

BOOST_AUTO_TEST_CASE(the_paths_of_a_patch_in_a_command_are_relative_to_the_workspace) {
  const std::string script =
      "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: b\n*** End Patch\nEOF\n";
  const struct {
    const char* name;
    std::string command;
    const char* workdir;
    const char* path;
  } rows[] = {
      {"in the workspace", script, "", "b"},
      {"a workdir", script, "sub", "sub/b"},
      {"a workdir in full", script, "/w/sub", "sub/b"},
      {"a workdir and cd", "cd deep && " + script, "sub", "sub/deep/b"},
      {"back again", "cd .. && " + script, "sub", "b"},
      {"cd in full", "cd /w/other && " + script, "sub", "other/b"},
  };
  for (const auto& row : rows) {
    for (const char* tool : {"shell", "exec_command"}) {
      BOOST_TEST_CONTEXT(row.name << ", " << tool) {
        Stream stream;
        stream.events.on({"run.started", 0, parse_json(R"({"workspace":{"seen_as":"/w"}})")});
        const std::string member = std::string(tool) == "shell" ? "command" : "cmd";
        const Json arguments = Json::object({{member, row.command}, {"workdir", row.workdir}});
        stream.call("c1", tool, write_json(arguments),
                    Json::array({Json::object({{"kind", "write_path"}, {"path", "x"}})}));
        stream.output({.call_id = "c1", .tool = tool, .output = "Success."});
        stream.end();
        BOOST_TEST(write_json(stream.last_item()["changes"]) ==
                   std::string(R"([{"path":")") + row.path + R"(","kind":"delete"}])");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_invalid_patch_in_a_command_is_a_change_that_failed) {
  for (const char* cd : {"", "cd ../.. && "}) {
    Stream stream;
    const std::string command = std::string(cd) + "apply_patch <<'EOF'\n*** Begin\nEOF\n";
    stream.call("c1", "shell", write_json(Json::object({{"command", command}})));
    stream.output(
        {.call_id = "c1", .tool = "shell", .success = false, .output = "Invalid patch: …"});
    stream.end();
    BOOST_TEST(stream.story() == Lines({"started item_0 file_change in_progress",
                                        "completed item_0 file_change failed"}),
               boost::test_tools::per_element());
    BOOST_TEST(write_json(stream.last_item()["changes"]) == "[]");
    BOOST_TEST(stream.last_item().string_at("reason") == "Invalid patch: …");
  }
}

BOOST_AUTO_TEST_CASE(a_command_that_ended_well_without_a_result_has_failed) {
  Stream stream;
  stream.run("c1", {"./todo.py"}, "todo");
  ToolOutputRecord record = done("c1", "todo", "oops\n");
  record.success = false;
  record.shown =
      "The output is declared to be JSON and is not: Invalid value. at byte 0\nExit "
      "code: 0\nOutput:\noops\n";
  stream.output(record);
  stream.end();
  const Json item = stream.last_item();
  BOOST_TEST(item.string_at("status") == "failed");
  BOOST_TEST(item.integer_at("exit_code", -99) == 0);
  BOOST_TEST(item.string_at("reason") ==
             "The output is declared to be JSON and is not: Invalid value. at byte 0");
}

BOOST_AUTO_TEST_CASE(a_servers_call_has_its_own_names_and_its_answer_as_it_came) {
  const Json origin = Json::object({{"server", "every thing"}, {"tool", "get.sum"}});
  const Json answer =
      parse_json(R"({"content":[{"type":"text","text":"3"}],"structured_content":{"sum":3}})");
  const struct {
    const char* name;
    Json origin;
    ToolOutputRecord output;
    const char* rest;
  } rows[] = {
      {"an answer",
       origin,
       {.call_id = "c1", .tool = "mcp__x", .output = "3", .details = answer},
       R"({"server":"every thing","tool":"get.sum","arguments":{"a":1},"result":{"content":[
           {"type":"text","text":"3"}],"structured_content":{"sum":3}},"error":null,
           "status":"completed"})"},
      {"an error of the server's",
       origin,
       {.call_id = "c1", .tool = "mcp__x", .success = false, .output = "3", .details = answer},
       R"({"server":"every thing","tool":"get.sum","arguments":{"a":1},"result":{"content":[
           {"type":"text","text":"3"}],"structured_content":{"sum":3}},"error":null,
           "status":"failed"})"},
      {"no answer",
       origin,
       {.call_id = "c1", .tool = "mcp__x", .success = false, .output = "it died"},
       R"({"server":"every thing","tool":"get.sum","arguments":{"a":1},"result":null,
           "error":{"message":"it died"},"status":"failed"})"},
      {"a built-in tool",
       {},
       {.call_id = "c1", .tool = "read_file", .output = "1: x"},
       R"({"server":"sortie","tool":"read_file","arguments":{"a":1},"result":{"content":[
           {"type":"text","text":"1: x"}],"structured_content":null},"error":null,
           "status":"completed"})"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Stream stream;
      stream.call("c1", row.output.tool, R"({"a":1})", Json::array(), row.origin);
      const Json started = stream.last_item();
      stream.output(row.output);
      stream.end();
      for (const char* name : {"result", "error"}) {
        BOOST_REQUIRE(started.find(name) != nullptr);
        BOOST_TEST(started[name].is_null());
      }
      const Json item = stream.last_item();
      const Json expected = parse_json(row.rest);
      for (const auto& [name, value] : expected.members())
        BOOST_TEST(write_json(item[name]) == write_json(value), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_side_by_side_are_shown_in_the_order_in_which_they_started) {
  Stream stream;
  for (const char* id : {"c1", "c2", "c3"}) stream.call(id, "read_file", "{}", Json::array());
  for (const char* id : {"c3", "c1", "c2"})
    stream.output({.call_id = id, .tool = "read_file", .output = id});
  stream.end();
  const std::string item = " mcp_tool_call ";
  BOOST_TEST(
      stream.story() ==
          Lines({"started item_0" + item + "in_progress", "started item_1" + item + "in_progress",
                 "started item_2" + item + "in_progress", "completed item_0" + item + "completed",
                 "completed item_1" + item + "completed", "completed item_2" + item + "completed"}),
      boost::test_tools::per_element());
  BOOST_TEST(stream.last_item()["result"]["content"].items().at(0).string_at("text") == "c3");
}

BOOST_AUTO_TEST_CASE(whatever_was_started_is_completed_before_the_turn_ends) {
  Stream stream;
  stream.events.on(
      plan_updated_event(1, "", parse_json(R"([{"step":"one","status":"in_progress"}])")));
  stream.run("c1", {"sleep", "9"});
  stream.call("c2", "mcp__x", "{}", Json::array());
  stream.call("c3", "apply_patch", "{}", Json::array());
  stream.events.on(verification_started_event(1, {"after", 2, "make", {"make"}}));
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

BOOST_AUTO_TEST_CASE(a_session_that_prints_much_is_shown_in_part_and_says_what_is_left_out) {
  Stream stream;
  const Json session = Json::object({{"session_id", 7}});
  const int news = 12;
  stream.run("c1", {"seq"}, "exec_command");
  std::string printed;
  std::string all;
  for (int i = 0; i < 20000; ++i) printed += "line " + std::to_string(100000 + i) + "\n";
  for (int i = 0; i < news; ++i) {
    const bool last = i + 1 == news;
    const std::string id = "c" + std::to_string(i + 1);
    if (i > 0) stream.call(id, "write_stdin", R"({"session_id":7})", Json::array());
    stream.output({.call_id = id,
                   .tool = i == 0 ? "exec_command" : "write_stdin",
                   .exit = last ? std::optional(exit_of(Ending::exited, 0)) : std::nullopt,
                   .output = printed,
                   .details = session});
    all += printed;
  }
  stream.end();

  int updates = 0;
  for (const Json& line : stream.lines) {
    if (line.string_at("type") != "item.updated") continue;
    ++updates;
    BOOST_TEST(line["item"].string_at("aggregated_output").size() < (20u << 10));
  }
  BOOST_TEST(updates == news - 1);
  const std::string shown = stream.last_item().string_at("aggregated_output");
  BOOST_TEST(shown.size() <= kMostItemOutput);
  BOOST_TEST(shown.size() > kMostItemOutput / 2);
  // One mark, that counts all of it.
  const auto mark = shown.find(" left out");
  BOOST_REQUIRE(mark != std::string::npos);
  BOOST_TEST(shown.find(" left out", mark + 1) == std::string::npos);
  const auto lines = [](const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  const auto begin = shown.rfind("\n", mark) + 1;
  const std::string line = shown.substr(begin, mark - begin);
  BOOST_TEST(
      line.find(std::to_string(lines(all) - (lines(shown) - 1)) + " lines") != std::string::npos,
      line);
}

BOOST_AUTO_TEST_CASE(a_session_is_one_command_from_its_start_to_its_end) {
  Stream stream;
  const Json session = Json::object({{"session_id", 7}});
  stream.run("c1", {"python3"}, "exec_command");
  stream.output({.call_id = "c1", .tool = "exec_command", .output = ">>> ", .details = session});
  stream.run("c2", {"ls"});
  stream.output(done("c2", "shell", ""));
  stream.call("c3", "write_stdin", R"({"session_id":7,"chars":"1+1\n"})", Json::array());
  stream.output({.call_id = "c3", .tool = "write_stdin", .output = "2\n>>> ", .details = session});
  stream.call("c4", "write_stdin", R"({"session_id":7,"chars":"exit(3)\n"})", Json::array());
  stream.output({.call_id = "c4",
                 .tool = "write_stdin",
                 .success = false,
                 .exit = exit_of(Ending::exited, 3),
                 .output = "bye\n"});
  const Json ended = stream.last_item();
  stream.call("c5", "write_stdin", R"({"session_id":7})", Json::array());
  stream.output({.call_id = "c5", .tool = "write_stdin", .success = false, .output = "gone"});
  stream.end();
  BOOST_TEST(stream.story() == Lines({"started item_0 command_execution in_progress",
                                      "updated item_0 command_execution in_progress",
                                      "started item_1 command_execution in_progress",
                                      "completed item_1 command_execution completed",
                                      "updated item_0 command_execution in_progress",
                                      "completed item_0 command_execution failed",
                                      "started item_2 mcp_tool_call in_progress",
                                      "completed item_2 mcp_tool_call failed"}),
             boost::test_tools::per_element());
  BOOST_TEST(ended.string_at("aggregated_output") == ">>> 2\n>>> bye\n");
  BOOST_TEST(ended.integer_at("exit_code") == 3);
}

BOOST_AUTO_TEST_CASE(the_plan_is_one_list_from_the_first_to_the_end_of_the_turn) {
  Stream stream;
  for (const char* status : {"in_progress", "completed"}) {
    const std::string id = std::string("c-") + status;
    stream.call(id, "update_plan", "{}", Json::array());
    stream.output({.call_id = id, .tool = "update_plan", .output = "Plan updated"});
    stream.events.on(plan_updated_event(
        1, "", Json::array({Json::object({{"step", "one"}, {"status", status}})})));
  }
  stream.end();
  BOOST_TEST(stream.story() == Lines({"started item_0 todo_list", "updated item_0 todo_list",
                                      "completed item_0 todo_list"}),
             boost::test_tools::per_element());
  BOOST_TEST(write_json(stream.last_item()["items"]) == R"([{"text":"one","completed":true}])");
}

BOOST_AUTO_TEST_CASE(the_tests_that_the_model_asks_for_are_shown_as_their_commands) {
  Stream stream;
  const VerificationRecord record{"run_tests", 1, "make test", {"sh", "-c", "make test"}};
  stream.call("c1", "run_tests", "{}", Json::array());
  stream.events.on(verification_started_event(1, record));
  stream.events.on(
      verification_completed_event(1, record, exit_of(Ending::exited, 2), "bad\n", 0, false));
  stream.output({.call_id = "c1",
                 .tool = "run_tests",
                 .success = false,
                 .exit = exit_of(Ending::exited, 2),
                 .output = "Failed."});
  stream.end();
  BOOST_TEST(stream.story() == Lines({"started item_0 command_execution in_progress",
                                      "completed item_0 command_execution failed"}),
             boost::test_tools::per_element());
  BOOST_TEST(write_json(stream.last_item()) ==
             R"({"id":"item_0","type":"command_execution","command":"make test",)"
             R"("aggregated_output":"bad\n","exit_code":2,"status":"failed",)"
             R"("verification":{"phase":"run_tests","round":1}})");
}

BOOST_AUTO_TEST_CASE(troubles_are_told_in_the_forms_that_readers_know) {
  Stream stream;
  RunStart start;
  start.sandbox = parse_json(R"({"missing":["landlock: this kernel has none"]})");
  start.warnings = {"the network is open"};
  stream.events.on(run_started_event(start));
  stream.events.on(model_retry_event(
      1, {.attempt = 1, .status = 503, .kind = "overloaded", .message = "later"}));
  stream.events.on(model_retry_event(1, {.attempt = 7, .kind = "cut", .message = "it broke off"}));
  stream.events.on(model_fallback_event(1, {.from = "a", .to = "b", .reason = "a is down"}));
  stream.events.on(context_compacted_event(
      1, {.cause = "compact_at", .method = "summary", .tokens_before = 90, .tokens_after = 10}));
  stream.events.on(model_cut_off_event(1, 1, Usage{.output_tokens = 4}, "a", {}));
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
                                "item.completed: The conversation was shortened (compact_at): a "
                                "summary stands in the place of its older turns; about 90 tokens "
                                "became 10."}),
             boost::test_tools::per_element());
  BOOST_TEST(write_json(stream.lines[stream.lines.size() - 2]) ==
             R"({"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,)"
             R"("output_tokens":6,"reasoning_output_tokens":0,"cache_write_input_tokens":0}})");
}

BOOST_AUTO_TEST_CASE(of_a_long_output_head_and_tail_are_shown) {
  Stream stream;
  std::string output = "first\n";
  for (int i = 0; i < 40'000; ++i)
    output += "a line of some fifty bytes that comes over and over\n";
  output += "last\n";
  stream.run("c1", {"make"});
  stream.output(done("c1", "shell", output));
  const std::string shown = stream.last_item().string_at("aggregated_output");
  stream.end();
  BOOST_TEST(shown.size() <= kMostItemOutput);
  BOOST_TEST(shown.size() > kMostItemOutput / 10 * 9);
  BOOST_TEST(shown.starts_with("first\n"));
  BOOST_TEST(shown.ends_with("last\n"));
  BOOST_TEST(shown.find(" left out") != std::string::npos);
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
  stream.events.on(model_retry_event(1, {.attempt = 1, .kind = secret, .message = hostile}));
  stream.run("c1", {"echo", secret});
  stream.output(done("c1", "shell", hostile));
  stream.call("c2", "mcp__x", write_json(Json::object({{secret, secret}})), Json::array(),
              Json::object({{"server", secret}, {"tool", "t"}}));
  stream.output({.call_id = "c2",
                 .tool = "mcp__x",
                 .details = Json::object({{"content", Json::array({hostile})}})});
  stream.call("c3", "apply_patch",
              "*** Begin Patch\n*** Delete File: " + secret + "\n*** End Patch\n", Json::array(),
              {}, ToolCall::Form::custom);
  stream.events.on(plan_updated_event(
      1, secret, Json::array({Json::object({{"step", hostile}, {"status", "pending"}})})));
  stream.end(ExitCode::task_failed, hostile);
  int turns = 0;
  for (const Json& line : stream.lines) {
    BOOST_TEST(write_json(line).find(secret) == std::string::npos, write_json(line));
    turns += line.string_at("type") == "turn.completed" ? 1 : 0;
  }
  BOOST_TEST(turns == 0);
}

}  // namespace sortie::test
