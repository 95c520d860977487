// Calls of tools in the stream of a run, from their start to their end.
#include "tests/app/show/event_stream.h"

namespace sortie::test {

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

BOOST_AUTO_TEST_CASE(completed_items_say_how_far_the_run_has_come) {
  const std::string patch =
      "*** Begin Patch\n*** Add File: new\n+1\n+2\n*** Update File: a\n@@\n x\n-y\n+z\n"
      "*** End Patch";
  Stream stream;
  stream.events.on(response_event("[]", Usage{100, 0, 20, 0}));
  stream.call("c1", "apply_patch", patch, {}, {}, ToolCall::Form::custom);
  stream.output({.call_id = "c1", .tool = "apply_patch", .changed_files = {"A new", "M a"}});
  stream.call("c2", "shell",
              write_json(Json::object({{"command", "apply_patch <<'EOF'\n" + patch + "\nEOF\n"}})));
  stream.output({.call_id = "c2", .tool = "shell", .changed_files = {"M a"}});
  stream.call("c3", "apply_patch", patch, {}, {}, ToolCall::Form::custom);
  stream.output({.call_id = "c3", .tool = "apply_patch", .success = false});

  std::vector<std::string> progress;
  for (const Json& line : stream.lines)
    if (line.string_at("type") == "item.completed")
      progress.push_back(write_json(line["progress"]));
    else
      BOOST_TEST(line["progress"].is_null());
  const std::string begin =
      R"({"turn":1,"input_tokens":100,"output_tokens":20,"changed_files":2,"patched_lines":)";
  BOOST_TEST(progress == Lines({begin + R"({"added":3,"removed":1}})",
                                begin + R"({"added":6,"removed":2}})",
                                begin + R"({"added":6,"removed":2}})"}),
             boost::test_tools::per_element());
  stream.end();
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
        stream.events.on({0, RunStart{.workspace = {.path = "/", .seen_as = "/w"}}});
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
  const CallDetails answer{.content = parse_json(R"([{"type":"text","text":"3"}])"),
                           .structured_content = parse_json(R"({"sum":3})"),
                           .meta = parse_json(R"({"trace":"t-1"})")};
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
           {"type":"text","text":"3"}],"_meta":{"trace":"t-1"},"structured_content":{"sum":3}},"error":null,
           "status":"completed"})"},
      {"an error of the server's",
       origin,
       {.call_id = "c1", .tool = "mcp__x", .success = false, .output = "3", .details = answer},
       R"({"server":"every thing","tool":"get.sum","arguments":{"a":1},"result":{"content":[
           {"type":"text","text":"3"}],"_meta":{"trace":"t-1"},"structured_content":{"sum":3}},"error":null,
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

BOOST_AUTO_TEST_CASE(a_session_that_prints_much_is_shown_in_part_and_says_what_is_left_out) {
  Stream stream;
  const CallDetails session{.session_id = 7};
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
  const CallDetails session{.session_id = 7};
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

BOOST_AUTO_TEST_CASE(the_tests_that_the_model_asks_for_are_shown_as_their_commands) {
  Stream stream;
  const VerificationRecord record{
      VerificationPhase::run_tests, 1, "make test", {"sh", "-c", "make test"}};
  stream.call("c1", "run_tests", "{}", Json::array());
  stream.events.on({1, record});
  stream.events.on({1, VerificationCompleted{record, exit_of(Ending::exited, 2), "bad\n"}});
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

}  // namespace sortie::test
