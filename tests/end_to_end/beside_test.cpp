// What a run vouches for as it was at the start, while sessions and servers run beside it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(beside)

namespace {

const char* const kStrict = "version: 1\nextends: strict\n";

/// A workspace with a script, a function that runs it, and a server.
struct Scene : RunFolder {
  explicit Scene(const std::string& policy) {
    write("work/tools/p.sh", "#!/bin/sh\necho good; cat\n");
    fs::permissions(path("work/tools/p.sh"), fs::perms(0755));
    write("work/server.py", read_file(SORTIE_SOURCE_DIR "/tests/data/mcp/server.py"));
    write("work/a.txt", "some text\n");
    commit_workspace();
    write("functions.json",
          R"([{"name": "f", "description": "Runs it.", "run": ["./tools/p.sh"]}])");
    write("policy.yaml", policy);
  }
  void write_task(const CassetteWriter& cassette, const std::string& tools) const {
    RunFolder::write_task(cassette,
                          "policy: policy.yaml\nexpect: {changes: any}\ntools:\n" + tools);
  }
  /// @param mode  of the server
  void serve(const CassetteWriter& cassette, const std::string& mode) const {
    write_task(cassette,
               "  enable: [shell, apply_patch, exec_command, mcp__one__*]\n  mcp:\n"
               "    one: {command: [python3, server.py, " +
                   mode + "]}\n");
  }
  std::vector<std::string> states() const {
    std::vector<std::string> names;
    for (const Json& record : records("mcp.server")) names.push_back(record.string_at("state"));
    return names;
  }
};

Json exec(const std::string& cmd) { return Json::object({{"cmd", cmd}, {"yield_time_ms", 250}}); }

Json type(const std::string& chars) {
  return Json::object({{"session_id", 1}, {"chars", chars}, {"yield_time_ms", 30'000}});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_program_of_the_workspace_does_not_run_beside_a_session_that_may_write) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const Scene scene(std::string(kStrict) +
                        "bounds: {mcp: [./tools/*]}\n"
                        "tools: [{allow: [exec_command, write_stdin, f]}]\n"
                        "commands: [{allow: {script: './tools/*'}}, {allow: [sleep]}]\n");
      scene.write_task(CassetteWriter()
                           .call("exec_command", exec("sleep 600"))
                           .next()
                           .shell({"./tools/p.sh"})
                           .call("f", Json::object({}))
                           .shell({"cat", "a.txt"})
                           .call("write_stdin", type("\x03"))
                           .next()
                           .shell({"./tools/p.sh"})
                           .call("f", Json::object({}))
                           .next()
                           .message("done"),
                       "  functions: functions.json\n"
                       "  enable: [shell, exec_command, f]\n");

      const ProgramEnd end = scene.run_as(caller);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      for (const std::size_t denied : {1u, 2u})
        BOOST_TEST(holds(scene.output(denied),
                         "must run alone, but session 1 is running and may write to the workspace"),
                   scene.output(denied));
      BOOST_TEST(holds(scene.output(3), "some text"), scene.output(3));
      for (const std::size_t run : {5u, 6u})
        BOOST_TEST(holds(scene.output(run), "good"), scene.output(run));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_gets_wider_rights_beside_a_session_that_could_change_what_it_obeys) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const Scene scene(
          "version: 1\nextends: auto\nescalation: rules\ncommands:\n"
          "  - {allow: [git, version], escalate: true, sandbox: {network: full}}\n");
      const Json escalated = Json::object(
          {{"command", Json::array({"git", "version"})}, {"with_escalated_permissions", true}});
      scene.write_task(CassetteWriter()
                           .call("exec_command", exec("sleep 600"))
                           .next()
                           .call("shell", escalated)
                           .call("write_stdin", type("\x03"))
                           .next()
                           .call("shell", escalated)
                           .next()
                           .message("done"),
                       "  enable: [shell, exec_command, write_stdin]\n");

      const ProgramEnd end = scene.run_as(caller);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      const auto outputs = scene.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 4u);
      const std::string beside = outputs[1].string_at("shown");
      const std::string alone = outputs[3].string_at("shown");
      BOOST_TEST(holds(beside, "reaches the network") == caller.namespaces, beside);
      BOOST_TEST(holds(beside, "while session 1 is running") == !caller.namespaces, beside);
      BOOST_TEST(holds(alone, "reaches the network"), alone);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_of_the_workspace_does_not_run_beside_a_server_that_may_write) {
  const struct {
    const char* sandbox;
    bool runs;
  } rows[] = {{"", false}, {"sandbox: {mode: read-only}\n", true}};
  for (const auto& row : rows) {
    for (const Caller& caller : all_callers()) {
      BOOST_TEST_CONTEXT(caller.name << " " << row.sandbox) {
        const Scene scene(std::string(kStrict) + row.sandbox +
                          "bounds: {mcp: [python3 server.py]}\n"
                          "commands:\n- allow: {script: './tools/*'}\n");
        scene.serve(CassetteWriter().shell({"./tools/p.sh"}).next().message("done"), "good");

        const ProgramEnd end = scene.run_as(caller);

        BOOST_TEST_REQUIRE(end.status == 0, end.errors);
        BOOST_TEST(scene.states().front() == "started");
        const std::string note =
            "programs of the workspace are denied while the MCP server one is running";
        BOOST_TEST(holds(end.errors, note) != row.runs, end.errors);
        if (row.runs)
          BOOST_TEST(holds(scene.output(0), "good"), scene.output(0));
        else
          BOOST_TEST(holds(scene.output(0), "must run alone, but the MCP server one is running"),
                     scene.output(0));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_is_started_again_only_in_the_workspace_that_it_was_started_in) {
  const std::string escalates =
      "escalation: rules\ntrust: {input: trusted}\n"
      "commands: [{allow: [python3, server.py], escalate: true, sandbox: {network: full}}]\n";
  const std::string all =
      "bounds: {mcp: [python3 server.py]}\n"
      "tools: [{allow: ['mcp__*', exec_command]}]\n";
  const std::string change_server =
      "*** Begin Patch\n*** Update File: server.py\n@@\n"
      "-    reply(request, text(\"echo: \" + str(arguments.get(\"text\", \"\"))))\n"
      "+    reply(request, text(\"another program\"))\n*** End Patch\n";
  const std::string add_module =
      "*** Begin Patch\n*** Add File: signal.py\n+SIGTERM = 0\n*** End Patch\n";
  const struct {
    const char* name;
    std::string policy;
    std::string patch;
    std::string why;  ///< part of it; "" where the server is restarted
  } rows[] = {
      {"strict, nothing changed", kStrict + all, "", ""},
      {"strict, its program", kStrict + all, change_server, "server.py was changed in this run"},
      {"strict, what it would load", kStrict + all, add_module, "signal.py was changed"},
      {"strict, more rights", kStrict + all + escalates, change_server, "server.py was changed"},
      {"strict, more rights, nothing changed", kStrict + all + escalates, "", ""},
      {"auto, its program", "version: 1\nextends: auto\n" + all, change_server, ""},
      {"auto, more rights", "version: 1\nextends: auto\n" + all + escalates, change_server,
       "server.py was changed"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Scene scene(row.policy);
      CassetteWriter cassette;
      if (!row.patch.empty()) cassette.patch(row.patch).next();
      cassette.call("mcp__one__echo", Json::object({{"text", "hello"}})).next().message("done");
      scene.serve(cassette, "half_exit");

      const ProgramEnd end = scene.run();

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      const std::string told = scene.output(row.patch.empty() ? 0 : 1);
      const std::vector<std::string> states = scene.states();
      BOOST_REQUIRE(states.size() >= 3);
      BOOST_TEST(states[1] == "died");
      BOOST_TEST(states[2] == (row.why.empty() ? "restarted" : "failed"), told);
      if (row.why.empty()) {
        BOOST_TEST(holds(told, "It was restarted."), told);
      } else {
        BOOST_TEST(holds(told, "it is not started again: " + row.why), told);
        BOOST_TEST(holds(scene.records("mcp.server")[2].string_at("detail"), row.why));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_was_ended_for_the_verification_stays_so_in_a_changed_workspace) {
  for (const bool strict : {true, false}) {
    BOOST_TEST_CONTEXT((strict ? "strict" : "auto")) {
      const Scene scene(std::string("version: 1\nextends: ") + (strict ? "strict" : "auto") +
                        "\nbounds: {mcp: [python3 server.py]}\ntools: [{allow: 'mcp__*'}]\n");
      CassetteWriter cassette;
      cassette.patch("*** Begin Patch\n*** Add File: signal.py\n+SIGTERM = 15\n*** End Patch\n")
          .next()
          .message("done")
          .call("mcp__one__echo", Json::object({{"text", "hello"}}))
          .patch("*** Begin Patch\n*** Add File: done\n+x\n*** End Patch\n")
          .next()
          .message("done");
      scene.RunFolder::write_task(cassette,
                                  "policy: policy.yaml\nverify: ['test -f done']\ntools:\n  mcp:\n"
                                  "    one: {command: [python3, server.py, good]}\n");

      const ProgramEnd end = scene.run();

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      const std::vector<std::string> states = scene.states();
      BOOST_REQUIRE(states.size() >= 3);
      BOOST_TEST(states[1] == "ended");
      BOOST_TEST(states[2] == (strict ? "failed" : "started"));
      BOOST_TEST(holds(scene.output(1), strict ? "signal.py was changed" : "echo: hello"),
                 scene.output(1));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_required_server_that_may_not_be_started_again_ends_the_run) {
  const std::string add_module =
      "*** Begin Patch\n*** Add File: signal.py\n+SIGTERM = 15\n*** End Patch\n";
  const std::string add_done = "*** Begin Patch\n*** Add File: done\n+x\n*** End Patch\n";
  const std::string verified = "prompt: Work.\nverify: ['test -f done']\n";
  const std::string staged =
      "stages:\n  - change: Change.\n  - {name: look, prompt: Look., sandbox: read-only}\n"
      "  - work: Work.\n";
  const struct {
    const char* name;
    std::string task;
    bool changes;
    int status;
  } rows[] = {
      {"ended for the verification", verified, true, 7},
      {"ended for a stage", staged, true, 7},
      {"ended for the verification, nothing changed", verified, false, 0},
      {"ended for a stage, nothing changed", staged, false, 0},
  };
  for (const Caller& caller : all_callers()) {
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(caller.name << ", " << row.name) {
        const Scene scene(std::string(kStrict) +
                          "bounds: {mcp: [python3 server.py]}\ntools: [{allow: 'mcp__*'}]\n");
        CassetteWriter cassette;
        if (row.changes) cassette.patch(add_module).next();
        cassette.message("changed");
        if (row.task == staged) cassette.message("looked");
        cassette.call("mcp__one__echo", Json::object({{"text", "hello"}})).patch(add_done).next();
        cassette.message("done");
        cassette.save(scene.path("cassette.jsonl"));
        scene.write("task.yaml",
                    "version: 1\nworkspace: {path: work}\npolicy: policy.yaml\n"
                    "model: {provider: replay, cassette: cassette.jsonl}\n" +
                        row.task +
                        "tools:\n  mcp:\n    one: {command: [python3, server.py, good], "
                        "required: true}\n");

        const ProgramEnd end = scene.run_as(caller);

        BOOST_TEST(end.status == row.status, end.errors);
        const VerifyResult record = verify_run(scene.out());
        BOOST_TEST(record.ok, record.problem);
        BOOST_TEST(record.finished);
        const std::vector<std::string> states = scene.states();
        BOOST_REQUIRE(states.size() >= 3);
        BOOST_TEST(states[1] == "ended");
        BOOST_TEST(states[2] == (row.changes ? "failed" : "started"));
        if (!row.changes) continue;
        const std::string reason = scene.result().string_at("reason");
        BOOST_TEST(holds(reason,
                         "tools.mcp.one: the required MCP server can't be used: it is not started "
                         "again: signal.py was changed in this run"),
                   reason);
        BOOST_TEST(scene.result().string_at("status") == "environment");
        // Nothing was asked without it, and the work is kept.
        BOOST_TEST(scene.records("tool.call").size() == 1U);
        BOOST_TEST(holds(scene.artifact("partial.diff"), "+SIGTERM = 15"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_is_not_started_again_beside_a_session_that_may_write) {
  const Scene scene(std::string(kStrict) +
                    "bounds: {mcp: [python3 server.py]}\ncommands: [{allow: [sleep]}]\n"
                    "tools: [{allow: ['mcp__*', exec_command]}]\n");
  scene.serve(CassetteWriter()
                  .call("exec_command", exec("sleep 600"))
                  .next()
                  .call("mcp__one__echo", Json::object({{"text", "hello"}}))
                  .next()
                  .message("done"),
              "half_exit");

  const ProgramEnd end = scene.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(holds(scene.output(1), "it is not started again: session 1 is running"),
             scene.output(1));
}

BOOST_AUTO_TEST_SUITE_END()
