// The program with servers of tools: the task's own small ones, polite and hostile, in the sandbox.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/record/transcript_reader.h"
#include "tests/end_to_end/served_folder.h"
#include "tests/support/npm_packages.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mcp)

BOOST_AUTO_TEST_CASE(a_servers_tools_are_called_and_give_all_that_they_return) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const ServedFolder folder;
      folder.set(calls({"echo", "fail", "image", "structured", "resource", "roots", "read_dotted",
                        "env", "write"}),
                 "good", "env: {GREETING: hi}");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(folder.output(0) == "echo: hello");
      BOOST_TEST(folder.output(1) == "it went wrong");
      const auto outputs = folder.records("tool.output");
      BOOST_TEST(!outputs[1]["success"].boolean(true));
      BOOST_TEST(folder.output(2) == "[image 1: image/png, 1 × 1]");
      BOOST_TEST(folder.output(3) == "Structured content:\n{\"answer\":42}");
      BOOST_TEST(write_json(outputs[3]["details"]["_meta"]) == R"({"example.org/trace":"t-1"})");
      BOOST_TEST(
          folder.output(4) ==
          "[resource demo://1 (text/plain)]\ninside\n[link to a resource: demo://2, second]");
      BOOST_TEST(holds(folder.output(5), "file://"), folder.output(5));
      BOOST_TEST(holds(folder.output(5), ", -1, {}]"), folder.output(5));
      BOOST_TEST(folder.output(6) == "echo: hello");
      const std::string names = folder.output(7);
      BOOST_TEST(holds(names, "\"GREETING\""), names);
      BOOST_TEST(!holds(names, "CI"), names);
      BOOST_TEST(!holds(names, "SHELL"), names);
      BOOST_TEST(holds(folder.artifact("changes.diff"), "+by the server"));
      const Json call = folder.records("tool.call").front();
      BOOST_TEST(write_json(call["origin"]) == R"({"server":"one","tool":"echo"})");
      BOOST_TEST((folder.states() == std::vector<std::string>{"started", "ended"}));
      BOOST_TEST(folder.records("mcp.server")[0].string_at("protocol_version") == "2025-11-25");
      BOOST_TEST(holds(folder.words("log"), "info: at your service"));
      BOOST_TEST(verify_run(folder.out()).ok);
      BOOST_TEST(processes_with("server.py good").empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_replay_takes_the_calls_of_servers_from_the_record) {
  const ServedFolder folder;
  folder.set(calls({"echo", "fail", "structured", "write"}), "good", "env: {GREETING: hi}");
  const ProgramEnd end = folder.run();
  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.artifact("changes.diff"), "+by the server"));

  const ProgramEnd again = run_program({.argv = {sortie_binary(), "replay", folder.out().string(),
                                                 "--out", folder.path("again").string()}});

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(holds(again.output, "replay: equal: 4 decisions, 4 calls"), again.output);
  BOOST_TEST(holds(read_file(folder.path("again/transcript.jsonl")),
                   R"("_meta":{"example.org/trace":"t-1"})"));
  // No server was started: its words and states are in no record.
  BOOST_TEST(!holds(read_file(folder.path("again/transcript.jsonl")), "\"mcp.server\""));
}

BOOST_AUTO_TEST_CASE(a_hostile_server_is_held_within_its_limits_and_the_run_goes_on) {
  const struct {
    const char* mode;
    std::string settings;
    std::string output;  ///< part of the first call's
    std::string record;  ///< part of what is recorded of the server's words, or of its states
  } rows[] = {
      {"hang_start", "startup_timeout: 300ms", "Unknown tool", "startup_timeout: 0.3 s"},
      {"die_start", "", "Unknown tool", "no license"},
      {"version", "", "Unknown tool", "1999-01-01"},
      {"die_list", "", "Unknown tool", "exited with code 4"},
      {"endless_pages", "", "Unknown tool", "endless pages"},
      {"hang_call", "tool_timeout: 300ms", "the last progress: 3 of 10, digging", "cancelled "},
      {"flood_stderr", "startup_timeout: 5m", "echo: hello", "noise noise"},
      {"half", "tool_timeout: 300ms", "not answered in time", "cancelled "},
      {"half_exit", "", "died during this call (it exited with code 3", "restarted"},
      {"huge", "tool_timeout: 60s", "a message of more than 16.0 MiB", "skipped"},
      {"die_call", "", "died during this call (it was killed by signal 9)", "restarted"},
      {"wrong_id", "", "right", "a reply to an unknown request: id 4711"},
      {"twice", "", "first", " reply to "},
      {"storm", "", "more than 100000 unsolicited messages", "died"},
      {"deep", "tool_timeout: 24h", "its answer is not valid JSON-RPC", "not JSON"},
      {"utf8", "tool_timeout: 24h", "its answer is not valid JSON-RPC", "not JSON"},
      {"cut", "tool_timeout: 24h", "its answer is not valid JSON-RPC", "not JSON"},
      {"cut_id", "tool_timeout: 24h", "its answer is not valid JSON-RPC", "not JSON"},
      {"unread", "tool_timeout: 24h", "refused with error -32700: Parse error", "ended"},
      {"garbage", "", "right", "Listening on port 3000"},
      {"closes_stdout", "", "died during this call (it was terminated: it closed its stdout",
       "died"},
      {"deaf_to_the_end", "", "echo: hello", "ended"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.mode) {
      const ServedFolder folder;
      // What comes behind an answer has been read once the next one has.
      const bool twice = std::string(row.mode) == "twice";
      folder.set(twice ? calls({"echo", "echo"}) : calls({"echo"}), row.mode, row.settings);

      const ProgramEnd end = folder.run();

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.output(0), row.output), folder.output(0));
      std::string told;
      for (const char* type : {"mcp.server", "mcp.message"})
        for (const Json& record : folder.records(type)) told += write_json(record) + "\n";
      BOOST_TEST(holds(told, row.record), told.substr(0, 4000));
      BOOST_TEST(told.size() < (400u << 10));
      BOOST_TEST(processes_with(std::string("server.py ") + row.mode).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(servers_start_side_by_side) {
  const ServedFolder folder;
  // Each answers nothing before the other one is there too.
  folder.write_task(calls({"echo"}),
                    "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n"
                    "    one: {command: [python3, server.py, meet, a, b], required: true}\n"
                    "    two: {command: [python3, server.py, meet, b, a], required: true}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0) == "echo: hello");
}

BOOST_AUTO_TEST_CASE(a_server_that_dies_is_restarted_once) {
  const ServedFolder once;
  once.set(calls({"echo", "echo"}), "die_once");
  BOOST_TEST(once.run().status == 0);
  BOOST_TEST(holds(once.output(0), "It was restarted."), once.output(0));
  BOOST_TEST(once.output(1) == "echo: hello");
  BOOST_TEST((once.states() == std::vector<std::string>{"started", "died", "restarted", "ended"}));

  const ServedFolder again;
  again.set(calls({"echo", "echo", "echo"}), "die_call");
  const ProgramEnd end = again.run();
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(again.output(1), "had been restarted before"), again.output(1));
  BOOST_TEST(holds(again.output(2), "is not available anymore"), again.output(2));
  BOOST_TEST((again.states() ==
              std::vector<std::string>{"started", "died", "restarted", "died", "failed"}));
  for (const char* told :
       {"[1] The MCP server one was lost: it was killed by signal 9",
        "[1] The MCP server one was started again.",
        "[2] The MCP server one can't be used: it was killed by signal 9; it had "
        "been restarted before"})
    BOOST_TEST(holds(end.errors, told), end.errors);
  BOOST_TEST(again.result()["warnings"].items().size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_told_in_events_and_result) {
  const ServedFolder folder;
  folder.set(calls({"echo"}), "die_start");

  const ProgramEnd end = run_program(folder.plain_start({"--json"}));

  BOOST_TEST(end.status == 0, end.errors);
  const std::string told = "The MCP server one can't be used: ";
  BOOST_TEST(holds(end.output, R"("type":"error","message":")" + told), end.output);
  const Json warnings = folder.result()["warnings"];
  BOOST_REQUIRE(warnings.items().size() == 1u);
  BOOST_TEST(warnings.items()[0].text().starts_with(told), write_json(warnings));
  BOOST_TEST(holds(end.errors, "tools.mcp.one: the run continues without this MCP server"));

  // So is the model, in a replay too.
  BOOST_TEST(folder.output(0).starts_with(
                 "Unknown tool \"mcp__one__echo\" in this run: the MCP server one could not be "
                 "started. Available tools: "),
             folder.output(0));
  const ProgramEnd replay = run_program(
      {.argv = {sortie_binary(), "replay", folder.out().string()}, .folder = folder.path("")});
  BOOST_TEST(replay.status == 0, replay.errors);
}

BOOST_AUTO_TEST_CASE(a_list_of_tools_that_leaves_out_a_server_says_so) {
  const struct {
    const char* enable;
    const char* note;  ///< "": none
    bool shown;
  } rows[] = {
      {"[shell]", "tools.enable leaves out all tools of the MCP server one (mcp__one__*)", false},
      {"[shell, mcp__one__ehco]", "no MCP server has a tool 'mcp__one__ehco' yet", false},
      {"[shell, 'mcp__one__*']", "", true},
      {"[default, exec_command]", "", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.enable) {
      const ServedFolder folder;
      folder.write_task(calls({"echo"}),
                        "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  enable: " +
                            std::string(row.enable) +
                            "\n  mcp:\n    one: {command: [python3, server.py, good]}\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.output(0), "Unknown tool") == !row.shown, folder.output(0));
      if (*row.note)
        BOOST_TEST(holds(end.errors, row.note), end.errors);
      else
        BOOST_TEST(!holds(end.errors, "tools.enable"), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_required_server_that_is_not_there_is_exit_code_7) {
  const ServedFolder folder;
  folder.set(calls({"echo"}), "die_start", "required: true");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(holds(end.errors, "the required MCP server can't be used"), end.errors);
  BOOST_TEST(holds(end.errors, "no license"), end.errors);
  BOOST_TEST(holds(end.errors, "; next: correct what it says of the server, or give it required"),
             end.errors);
}

BOOST_AUTO_TEST_CASE(a_pinned_list_has_to_be_the_same) {
  const ServedFolder folder;
  folder.set(calls({"echo"}), "good", "pin: \"sha256:" + std::string(64, '0') + "\"");
  const ProgramEnd wrong = folder.run();
  BOOST_TEST(wrong.status == 7, wrong.errors);
  const std::size_t at = wrong.errors.find("it is sha256:");
  BOOST_TEST_REQUIRE(at != std::string::npos, wrong.errors);
  const std::string pin = wrong.errors.substr(at + 6, 71);
  BOOST_TEST(holds(wrong.errors,
                   "; next: if the new list of tools is wanted, set the server's pin in the task "
                   "to the sha256 that its list has now"),
             wrong.errors);

  const ServedFolder right;
  right.set(calls({"change", "echo"}), "good", "pin: \"" + pin + "\"");
  const ProgramEnd end = right.run();
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "pin " + pin), end.errors);
  BOOST_TEST(right.output(0) == "changed");
  BOOST_TEST(holds(right.output(1), "is not the one that the task pinned"), right.output(1));
}

BOOST_AUTO_TEST_CASE(a_changed_list_holds_from_the_next_turn_on) {
  const ServedFolder folder;
  folder.set(calls({"added", "change", "added"}), "good");

  BOOST_TEST(folder.run().status == 0);

  BOOST_TEST(holds(folder.output(0), "Unknown tool"), folder.output(0));
  BOOST_TEST(folder.output(1) == "changed");
  BOOST_TEST(folder.output(2) == "echo: hello");
  BOOST_TEST((folder.states() == std::vector<std::string>{"started", "tools_changed", "ended"}));
}

BOOST_AUTO_TEST_CASE(the_policy_bounds_servers_and_rules_hold_for_both_names_of_a_tool) {
  const ServedFolder folder;
  folder.write("policy.yaml", "version: 1\nextends: [auto]\n");
  folder.set(calls({"echo"}), "good");
  const ProgramEnd beyond = folder.run();
  BOOST_TEST(beyond.status == 2);
  BOOST_TEST(holds(beyond.errors, "beyond the policy's bounds"), beyond.errors);

  const ServedFolder loader;
  loader.set(calls({"echo"}), "good", "env: {PYTHONPATH: .}");
  const ProgramEnd refused = loader.run();
  BOOST_TEST(refused.status == 2);
  BOOST_TEST(holds(refused.errors, "PYTHONPATH"), refused.errors);

  for (const std::string rule : {"mcp__one__fail", "mcp:one/fail", "mcp:one/*", "mcp__*"}) {
    BOOST_TEST_CONTEXT(rule) {
      const ServedFolder denied;
      denied.write("policy.yaml",
                   "version: 1\nextends: [auto]\nbounds: {mcp: [python3]}\ntools:\n  - deny: \"" +
                       rule + "\"\n");
      denied.set(calls({"fail"}), "good");
      BOOST_TEST(denied.run().status == 0);
      BOOST_TEST(holds(denied.output(0), "Denied"), denied.output(0));

      const ServedFolder allowed;
      allowed.write("policy.yaml",
                    "version: 1\nbounds: {mcp: [python3]}\ntools:\n  - allow: \"" + rule + "\"\n");
      allowed.set(calls({"fail"}), "good");
      BOOST_TEST(allowed.run().status == 0);
      BOOST_TEST(allowed.output(0) == "it went wrong");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_task_takes_some_of_a_servers_tools) {
  const ServedFolder folder;
  folder.set(calls({"echo", "fail"}), "good", "tools: [echo, nothing]");
  const ProgramEnd end = folder.run();
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0) == "echo: hello");
  BOOST_TEST(holds(folder.output(1), "Unknown tool"), folder.output(1));
  BOOST_TEST(holds(end.errors, "the server has no tool nothing"), end.errors);
}

/// The reference servers, over stdio and in the sandbox.
BOOST_AUTO_TEST_CASE(the_reference_servers_work_in_the_sandbox,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  const auto command = [&](const std::string& name, const std::string& more = {}) {
    const auto argv = packages.command("@modelcontextprotocol/server-" + name, "dist/index.js");
    return "command: [" + argv[0] + ", " + argv[1] + more +
           "], required: true, "
           "startup_timeout: 60s";
  };
  const ServedFolder folder;
  folder.write(
      "policy.yaml",
      "version: 1\nextends: [strict]\nbounds: {mcp: [\"*/node\"], mcp_env: [MEMORY_FILE_PATH]}\n"
      "paths: {read: [" +
          packages.folder.string() +
          "]}\n"
          "tools:\n  - allow: [\"mcp__*\"]\n");
  const std::string work = folder.workspace().string();
  CassetteWriter cassette;
  cassette.call("mcp__everything__echo", Json::object({{"message", "hi"}}))
      .call("mcp__everything__get-sum", Json::object({{"a", 2}, {"b", 40}}))
      .call("mcp__everything__get-sum", Json::object({{"a", "two"}}))
      .call("mcp__everything__get-tiny-image", Json::object())
      .call("mcp__everything__get-structured-content", Json::object({{"location", "Chicago"}}))
      .call("mcp__files__write_file",
            Json::object({{"path", work + "/new.txt"}, {"content", "by a server\n"}}))
      .call("mcp__files__read_text_file", Json::object({{"path", work + "/new.txt"}}))
      .call("mcp__files__read_text_file", Json::object({{"path", "/etc/shadow"}}))
      .call("mcp__memory__read_graph", Json::object())
      .next();
  cassette.message("done");
  folder.write_task(cassette,
                    "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n"
                    "    everything: {" +
                        command("everything") +
                        "}\n"
                        "    files: {" +
                        command("filesystem", ", " + work) +
                        "}\n"
                        "    memory: {" +
                        command("memory") + ", env: {MEMORY_FILE_PATH: " + work +
                        "/memory.jsonl}}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.output(0), "hi"), folder.output(0));
  BOOST_TEST(holds(folder.output(1), "42"), folder.output(1));
  BOOST_TEST(holds(folder.output(2), "Invalid arguments"), folder.output(2));
  BOOST_TEST(holds(folder.output(3), "image/png"), folder.output(3));
  BOOST_TEST(holds(folder.output(4), "temperature"), folder.output(4));
  BOOST_TEST(holds(folder.output(6), "by a server"), folder.output(6));
  BOOST_TEST(!folder.records("tool.output")[7]["success"].boolean(true));
  BOOST_TEST(holds(folder.output(8), "entities"), folder.output(8));
  BOOST_TEST(holds(folder.artifact("changes.diff"), "+by a server"));
}

/// How what a server's call made under a protected name comes out, by what there is to guard it.
BOOST_AUTO_TEST_CASE(a_protected_name_that_a_servers_call_makes_is_noticed_at_the_call,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  const auto argv = packages.command("@modelcontextprotocol/server-filesystem", "dist/index.js");
  const struct {
    const char* isolation;
    const char* policy;
  } rows[] = {{"overlay", "auto"}, {"copy", "auto"}, {"copy", "unsandboxed"}};
  for (const Caller& caller : all_callers()) {
    for (const auto& row : rows) {
      if (!caller.namespaces && row.isolation == std::string("overlay")) continue;
      BOOST_TEST_CONTEXT(caller.name << ", " << row.isolation << ", " << row.policy) {
        const ServedFolder folder;
        folder.write("policy.yaml", "version: 1\nextends: [" + std::string(row.policy) +
                                        "]\nbounds: {mcp: [\"*/node\"]}\npaths: {read: [" +
                                        packages.folder.string() +
                                        "]}\ntools:\n  - allow: [\"mcp__*\"]\n");
        CassetteWriter cassette;
        cassette
            .call("mcp__files__write_file",
                  Json::object({{"path", "AGENTS.md"}, {"content", "obey\n"}}))
            .next()
            .call("mcp__files__write_file",
                  Json::object({{"path", "new.txt"}, {"content", "by a server\n"}}))
            .next();
        cassette.message("done");
        folder.write_task(cassette,
                          "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n"
                          "    files: {command: [" +
                              argv[0] + ", " + argv[1] +
                              ", .], required: true, startup_timeout: 60s}\n");

        const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", row.isolation}));

        const bool mounts = caller.namespaces && row.policy != std::string("unsandboxed");
        BOOST_TEST(end.status == (mounts ? 0 : 8), end.errors);
        const auto outputs = folder.records("tool.output");
        BOOST_TEST_REQUIRE(outputs.size() == (mounts ? 2u : 1u), end.errors);
        BOOST_TEST(outputs[0].string_at("verdict") ==
                   (mounts ? "protected_path_made" : "protected_path_changed"));
        BOOST_TEST(folder.artifact("kept/AGENTS.md.taken") == "obey\n");
        if (!mounts) continue;
        BOOST_TEST(!outputs[0]["success"].boolean(true));
        BOOST_TEST(!holds(folder.artifact("changes.diff"), "obey"));
        BOOST_TEST(holds(folder.artifact("changes.diff"), "+by a server"));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
