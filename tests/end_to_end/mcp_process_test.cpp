// What a server's process may do beside its answers: when it runs, what it reaches, how it ends.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/served_folder.h"
#include "tests/support/loopback_http.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Fails where the file that the server in its mode "busy" writes does not stay as it is.
constexpr const char* kStill =
    "a=$(cat counter.txt 2>&1)\n"
    "for i in $(seq 200); do [ \"$(cat counter.txt 2>&1)\" = \"$a\" ] || exit 1; done\n";

/// Of the Nth call, which ran a command.
std::int64_t exit_code(const RunFolder& folder, std::size_t call) {
  return folder.records("tool.output").at(call)["exit"].integer_at("code");
}

CassetteWriter& echo(CassetteWriter& cassette) {
  return cassette.call("mcp__one__echo", Json::object({{"text", "hello"}}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mcp_process)

BOOST_AUTO_TEST_CASE(servers_start_side_by_side_and_their_tools_stand_by_name) {
  const ServedFolder folder;
  CassetteWriter cassette;
  for (const char* server : {"b", "a", "c"})
    cassette.call(std::string("mcp__") + server + "__echo", Json::object({{"text", server}}));
  cassette.next().message("done");
  // Each is ready once the next one has begun.
  std::string servers;
  for (const std::string pair : {"b, a", "c, b", "a, c"})
    servers += "    " + pair.substr(0, 1) + ": {command: [python3, server.py, meets, " + pair +
               "], tools: [fail, echo], required: true, startup_timeout: 60s}\n";
  cassette.save(folder.path("cassette.jsonl"));
  folder.write("task.yaml",
               "version: 1\nworkspace: {path: work}\n"
               "model: {provider: replay, cassette: cassette.jsonl}\nstages:\n  - work: Work.\n"
               "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n" +
                   servers);

  const ProgramEnd end = folder.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0) == "echo: b");
  BOOST_TEST(folder.output(1) == "echo: a");
  BOOST_TEST(folder.output(2) == "echo: c");
  std::vector<std::string> names;
  const Json stage = folder.records("stage.started").at(0);
  for (const Json& tool : stage["tools"].items())
    if (tool.text().starts_with("mcp__")) names.push_back(tool.text());
  BOOST_TEST((names == std::vector<std::string>{"mcp__a__echo", "mcp__a__fail", "mcp__b__echo",
                                                "mcp__b__fail", "mcp__c__echo", "mcp__c__fail"}));
}

BOOST_AUTO_TEST_CASE(a_server_may_tidy_up_and_one_that_does_not_end_is_killed) {
  const struct {
    const char* mode;
    const char* ended;
    const char* last_words;
  } rows[] = {
      {"farewell", "it exited with code 0", "tidied up"},      // when its stdin ends
      {"ends_by_term", "it exited with code 0", "tidied up"},  // that alone does not end it
      {"deaf_to_the_end", "it had to be killed", ""},
  };
  for (const Caller& caller : all_callers()) {
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(caller.name << ", " << row.mode) {
        const ServedFolder folder;
        folder.set(calls({"echo"}), row.mode);

        const ProgramEnd end = folder.run_as(caller);

        BOOST_TEST_REQUIRE(end.status == 0, end.errors);
        BOOST_TEST(folder.output(0) == "echo: hello");
        const auto last = folder.records("mcp.server").back();
        BOOST_TEST(last.string_at("state") == "ended");
        BOOST_TEST(last.string_at("detail").starts_with(row.ended), last.string_at("detail"));
        BOOST_TEST(holds(folder.words("stderr"), row.last_words), folder.words("stderr"));
        // What it writes while it ends is part of the run.
        BOOST_TEST(holds(folder.artifact("changes.diff"), "+gone") == (row.last_words[0] != '\0'));
        BOOST_TEST(processes_with(std::string("server.py ") + row.mode).empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_of_a_server_runs_while_its_work_is_verified) {
  const ServedFolder folder;
  folder.write("work/still.sh", kStill);
  CassetteWriter cassette;
  echo(cassette).call("run_tests", Json::object()).next().message("done");
  folder.write_task(cassette, ServedFolder::server("busy") +
                                  "verify: {in: run, commands: [sh still.sh], rounds: 0}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  // The same command, while it runs.
  BOOST_TEST(holds(folder.output(1), "`sh still.sh` ended with exit code 1"), folder.output(1));
  const auto verifications = folder.records("verification.completed");
  BOOST_TEST_REQUIRE(verifications.size() == 2U);
  BOOST_TEST(verifications[0].string_at("phase") == "run_tests");
  BOOST_TEST(verifications[1].string_at("phase") == "after");
}

BOOST_AUTO_TEST_CASE(a_server_is_started_anew_for_what_is_to_be_mended) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const ServedFolder folder;
      CassetteWriter cassette;
      echo(cassette).next().message("done");
      cassette.call("mcp__one__write", Json::object()).next().message("done now");
      folder.write_task(cassette, ServedFolder::server("farewell") +
                                      "verify: [test -f farewell.txt && test -f written.txt]\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(folder.output(1) == "wrote");
      BOOST_TEST(
          (folder.states() == std::vector<std::string>{"started", "ended", "started", "ended"}));
      BOOST_TEST(folder.records("verification.completed").size() == 2U);
      const std::string diff = folder.artifact("changes.diff");
      BOOST_TEST(holds(diff, "+gone"), diff);
      BOOST_TEST(holds(diff, "+by the server"), diff);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_can_not_start_says_which_lines_would_help) {
  const ServedFolder folder;
  folder.write("mcp/node_modules/.bin/server", "#!/bin/sh\nexit 0\n");
  const struct {
    std::string command;
    std::string says;
  } rows[] = {
      {folder.path("mcp/node_modules/.bin/server").string(),
       "paths: {read: [\"" + folder.path("mcp").string() + "\"]}"},
      {"sleep, '100'", "network: {mode: allow-list, allow: [registry.npmjs.org]}"},
      {"nothing-of-this-name", "no such program 'nothing-of-this-name' on PATH"},
  };
  folder.write("any.yaml", "version: 1\nextends: [auto]\nbounds: {mcp: ['*']}\n");
  for (const auto& row : rows) {
    folder.write_task(
        CassetteWriter().message("done"),
        "policy: any.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n    one: {command: [" +
            row.command + "], required: true, startup_timeout: 500ms}\n");
    const ProgramEnd end = folder.run();
    BOOST_TEST(end.status == 7, end.errors);
    BOOST_TEST(holds(end.errors, row.says), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(a_required_server_that_does_not_come_back_ends_the_run) {
  for (const bool required : {true, false}) {
    BOOST_TEST_CONTEXT("required: " << required) {
      const ServedFolder folder;
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "echo 'raise SystemExit(9)' > server.py"}).next().message("done");
      echo(cassette).next().shell({"touch", "mended"}).next().message("done now");
      folder.write_task(
          cassette, ServedFolder::server("good", required ? "required: true" : "required: false") +
                        "verify: [test -f mended]\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == (required ? 7 : 0), end.errors);
      BOOST_TEST((folder.states() == std::vector<std::string>{"started", "ended", "failed"}));
      if (required)
        BOOST_TEST(holds(end.errors, "the required MCP server can't be used"), end.errors);
      else
        BOOST_TEST(holds(folder.output(1), "is not available anymore"), folder.output(1));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_whose_program_may_write_does_not_run_in_a_read_only_stage) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const ServedFolder folder;
      folder.write("work/still.sh", kStill);
      CassetteWriter cassette;
      echo(cassette).shell({"sh", "still.sh"}).next().message("looked");
      echo(cassette).shell({"sh", "still.sh"}).next().message("worked");
      cassette.save(folder.path("cassette.jsonl"));
      folder.write("task.yaml",
                   "version: 1\nworkspace: {path: work}\n"
                   "model: {provider: replay, cassette: cassette.jsonl}\nstages:\n"
                   "  - {name: look, prompt: Look., sandbox: read-only}\n  - work: Work.\n" +
                       ServedFolder::server("busy"));

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.output(0), "Denied"), folder.output(0));
      BOOST_TEST(holds(folder.output(0), "the stage 'look' is read-only"), folder.output(0));
      BOOST_TEST(exit_code(folder, 1) == 0);
      BOOST_TEST(folder.output(2) == "echo: hello");
      BOOST_TEST(exit_code(folder, 3) == 1, folder.words("stderr"));
      BOOST_TEST(
          (folder.states() == std::vector<std::string>{"started", "ended", "started", "ended"}));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_reaches_a_network_that_commands_do_not_by_a_rule_of_its_own) {
  const std::string rule =
      "escalation: rules\ncommands:\n"
      "  - {allow: [python3, server.py], escalate: true, sandbox: {network: full}}\n";
  for (const Caller& caller : all_callers()) {
    for (const bool has_rule : {true, false}) {
      BOOST_TEST_CONTEXT(caller.name << (has_rule ? ", with its rule" : ", without")) {
        const LoopbackHttp server([](const ReceivedRequest&) { return ServedResponse(); });
        const std::string port = std::to_string(server.port());
        const ServedFolder folder;
        folder.write("policy.yaml",
                     "version: 1\nextends: [auto]\nbounds: {mcp: [python3 server.py]}\n" +
                         (has_rule ? rule : ""));
        CassetteWriter cassette;
        cassette.call("mcp__one__connect", Json::object({{"text", port}}));
        cassette.shell({"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + port}).next().message("done");
        folder.set(cassette, "good");

        const ProgramEnd end = folder.run_as(caller);

        BOOST_TEST_REQUIRE(end.status == 0, end.errors);
        if (has_rule)
          BOOST_TEST(folder.output(0) == "connected");
        else
          BOOST_TEST(holds(folder.output(0), "no way"), folder.output(0));
        BOOST_TEST(exit_code(folder, 1) == 1);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
