#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr const char* kTools = "tools: {enable: [exec_command]}\nexpect: {changes: any}\n";

Json exec(const std::string& cmd, bool tty = false) {
  return Json::object({{"cmd", cmd}, {"tty", tty}, {"yield_time_ms", 250}});
}

Json type(const std::string& chars, int id = 1) {
  return Json::object({{"session_id", id}, {"chars", chars}, {"yield_time_ms", 30'000}});
}

std::string marker_of(const char* test) {
  return "31557601." + std::to_string(::getpid()) + std::to_string(std::string(test).size());
}

/// A command that goes on for ever, whose processes have the marker on their command lines.
std::string endless(const std::string& marker) {
  return "trap '' HUP TERM; setsid sleep " + marker + " & sleep " + marker;
}

/// A script that is the patch which adds this file.
std::string adding(const std::string& path) {
  return "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + path +
         "\n+made\n*** End Patch\nEOF\n";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sessions)

BOOST_AUTO_TEST_CASE(a_session_is_typed_into_whoever_runs_it) {
  for (const Caller& caller : all_callers()) {
    for (const bool tty : {true, false}) {
      BOOST_TEST_CONTEXT(caller.name << (tty ? ", terminal" : ", pipe")) {
        const RunFolder folder;
        folder.write_task(
            CassetteWriter()
                .call("exec_command", exec("read x; echo got $x > made; cat made", tty))
                .next()
                .call("write_stdin", type("a line\n"))
                .next()
                .call("write_stdin", type("more\n"))
                .next()
                .message("done"),
            std::string("policy: auto\n") + kTools);

        const ProgramEnd end = folder.run_as(caller);

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(holds(folder.output(1), "got a line\n"));
        BOOST_TEST(holds(folder.output(2), "session 1 has ended with exit code 0"));
        BOOST_TEST(holds(folder.artifact("changes.diff"), "+got a line"));
        const auto outputs = folder.records("tool.output");
        BOOST_TEST(outputs.at(0)["details"].integer_at("session_id") == 1);
        BOOST_TEST(outputs.at(0)["exit"].is_null());
        BOOST_TEST(outputs.at(1)["exit"].integer_at("code", -1) == 0);
        BOOST_TEST(verify_run(folder.out()).ok);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_ends_its_sessions_whoever_runs_it) {
  const std::string marker = marker_of("end");
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write_task(CassetteWriter()
                            .call("exec_command", exec(endless(marker), true))
                            .call("exec_command", exec(endless(marker), false))
                            .next()
                            .message("done"),
                        std::string("policy: auto\n") + kTools);

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(processes_with(marker).empty());
      BOOST_TEST(folder.records("tool.output").at(1)["details"].integer_at("session_id") == 2);
      BOOST_TEST(folder.result()["survivors_excluded"].boolean());
    }
  }
}

BOOST_AUTO_TEST_CASE(no_session_runs_while_the_work_is_judged) {
  const RunFolder folder;
  folder.write("work/lock", "");
  folder.write_task(
      CassetteWriter()
          .call("exec_command", exec("flock lock -c 'echo held; exec tail -f /dev/null'"))
          .next()
          .message("done"),
      std::string("policy: auto\nverify: ['flock -n lock true']\n") + kTools);

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.output(0), "held"));
}

BOOST_AUTO_TEST_CASE(a_signal_ends_a_run_with_sessions_whoever_runs_it) {
  for (const Caller& caller : all_callers()) {
    for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
      BOOST_TEST_CONTEXT(caller.name << ", signal " << signal) {
        const std::string marker = marker_of("signal") + std::to_string(signal);
        const RunFolder folder;
        folder.write_task(CassetteWriter()
                              .call("exec_command", exec(endless(marker), true))
                              .call("exec_command", exec(endless(marker), false))
                              .next()
                              .call("write_stdin", type(""))
                              .next()
                              .message("done"),
                          std::string("policy: auto\n") + kTools);
        give_to(folder.path("."), caller.uid);
        Program program(as_caller(caller, folder.start()));
        BOOST_REQUIRE(wait_until([&] {
          return std::filesystem::exists(folder.out() / "transcript.jsonl") &&
                 folder.records("tool.call").size() == 3;
        }));
        BOOST_TEST(!processes_with(marker).empty());

        program.signal(signal);
        const ProgramEnd end = program.finish();

        BOOST_TEST(end.status == 128 + signal, end.errors);
        // A killed sortie has nobody left to wait for them.
        BOOST_TEST(wait_until([&] { return processes_with(marker).empty(); }));
        if (signal != SIGKILL) BOOST_TEST(verify_run(folder.out()).finished);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_spent_ends_the_sessions) {
  const std::string marker = marker_of("budget");
  const struct {
    const char* name;
    const char* flag;
    const char* value;
  } rows[] = {{"turns", "--max-turns", "1"}, {"time", "--timeout", "3s"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write_task(CassetteWriter()
                            .call("exec_command", exec(endless(marker), true))
                            .call("exec_command", exec(endless(marker), false))
                            .next()
                            .call("write_stdin", type(""))
                            .next()
                            .message("done"),
                        std::string("policy: auto\n") + kTools);

      const ProgramEnd end = folder.run({row.flag, row.value});

      BOOST_TEST(end.status == 4, end.errors);
      BOOST_TEST(processes_with(marker).empty());
      BOOST_TEST(folder.result()["survivors_excluded"].boolean());
    }
  }
}

BOOST_AUTO_TEST_CASE(rules_decide_what_is_started_and_what_is_typed) {
  const RunFolder folder;
  folder.write("work/a.txt", "some text\n");
  folder.write("policy.yaml",
               "version: 1\nextends: strict\ncommands: [{allow: [python3]}, {allow: [bash]}]\n"
               "tools: [{allow: [exec_command, write_stdin]}]\n");
  folder.write_task(CassetteWriter()
                        .call("exec_command", exec("cat a.txt"))
                        .call("exec_command", exec("make"))
                        .call("exec_command", exec("echo $HOME"))
                        .call("exec_command", exec("python3 -q -i"))
                        .call("exec_command", exec("bash"))
                        .next()
                        .call("write_stdin", type("print(6 * 7)\nexit()\n", 2))
                        .call("write_stdin", type("make\n", 3))
                        .call("write_stdin", type("\x04", 3))
                        .next()
                        .message("done"),
                    std::string("policy: policy.yaml\n") + kTools);

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.output(0), "some text"));
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(outputs.size() == 8u);
  BOOST_TEST(outputs[1].string_at("status") == "declined");
  BOOST_TEST(outputs[2].string_at("status") == "declined");
  BOOST_TEST(holds(folder.output(5), "42"));
  BOOST_TEST(outputs[6].string_at("status") == "declined");
  BOOST_TEST(holds(outputs[6].string_at("reason"), "input to a program that runs commands"));
  BOOST_TEST(outputs[7]["exit"].integer_at("code", -1) == 0);
}

BOOST_AUTO_TEST_CASE(no_editing_at_a_terminal_hides_a_command_from_a_rule) {
  const struct {
    const char* name;
    const char* shell;
    std::vector<const char*> typed;
    bool tty = true;
  } rows[] = {
      {"a half handed over", "sh", {"touch de\x04", "ed\n"}},
      {"a line continued", "sh", {"touch \\\n", "deed\n"}},
      {"a line continued in a pipe", "sh", {"touch \\\n", "deed\n"}, false},
      {"typed from the front", "bash --norc -i", {"eed\x01touch d\n"}},
      {"completed by a tab", "bash --norc -i", {"touch dee\t\n"}},
      {"taken from the history", "bash --norc -i", {"touch deeX\n", "^X^d\n"}},
      {"another key erases", "sh", {"stty erase x\n", "touch deeyxd\n"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("policy.yaml",
                   "version: 1\nextends: auto\ncommands:\n  - deny: [touch, deed]\n");
      CassetteWriter cassette;
      cassette.call("exec_command", exec(row.shell, row.tty));
      for (const char* typed : row.typed)
        cassette.next().call(
            "write_stdin",
            Json::object({{"session_id", 1}, {"chars", typed}, {"yield_time_ms", 250}}));
      folder.write_task(cassette.next().message("done"),
                        std::string("policy: policy.yaml\n") + kTools);

      BOOST_TEST(folder.run().status == 0);

      BOOST_TEST(!holds(folder.artifact("changes.diff"), "deed"));
      bool denied = false;
      for (const Json& output : folder.records("tool.output"))
        denied = denied || output.string_at("status") == "declined";
      BOOST_TEST(denied);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_patch_in_a_session_is_applied_as_by_the_tool) {
  const RunFolder folder;
  folder.write("work/sub/there.txt", "there\n");
  const std::string here = adding("new.txt");
  folder.write_task(
      CassetteWriter()
          .call("exec_command", exec(here))
          .call("exec_command", exec("cd sub && " + here))
          .call("exec_command",
                Json::object({{"cmd", here}, {"workdir", "sub/../sub"}, {"shell", "sh"}}))
          .call("exec_command", Json::object({{"cmd", adding("more.txt")}, {"login", true}}))
          .call("exec_command", exec("cd .. && " + here))
          .call("exec_command", exec("cd sub && " + adding("../../out.txt")))
          .call("exec_command", exec("ls && " + adding("other.txt")))
          .next()
          .message("done"),
      "policy: auto\ntools: {enable: [exec_command, apply_patch]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.output(0), "Success. Updated the following files:\nA new.txt\n"));
  BOOST_TEST(holds(folder.output(1), "Success. Updated the following files:\nA new.txt\n"));
  BOOST_TEST(holds(folder.output(2), "new.txt"));
  BOOST_TEST(holds(folder.output(3), "A more.txt"));
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(outputs.size() == 7u);
  const bool success[] = {true, true, true, true, false, false, false};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    BOOST_TEST(outputs[i]["success"].boolean() == success[i], i << ": " << folder.output(i));
  const std::string diff = folder.artifact("changes.diff");
  for (const char* path : {"b/new.txt", "b/sub/new.txt", "b/more.txt"})
    BOOST_TEST(holds(diff, path), diff);
  BOOST_TEST(!holds(diff, "other.txt"), diff);
  BOOST_TEST(!std::filesystem::exists(folder.path("out.txt")));
}

BOOST_AUTO_TEST_CASE(a_patch_in_a_session_is_no_way_around_the_policy) {
  const RunFolder folder;
  folder.write("work/AGENTS.md", "read me\n");
  folder.write("work/kept/a.txt", "a\n");
  folder.write("policy.yaml",
               "version: 1\nextends: auto\npaths: {protect: [kept]}\n"
               "tools: [{deny: [apply_patch]}]\n");
  folder.write("open.yaml", "version: 1\nextends: auto\npaths: {protect: [kept]}\n");
  const auto with = [&](const char* policy) {
    folder.write_task(
        CassetteWriter()
            .call("exec_command", exec(adding("new.txt")))
            .call("exec_command", exec("cd kept && " + adding("new.txt")))
            .call("exec_command", exec(adding("AGENTS.md")))
            .call("exec_command", exec("bash", true))
            .next()
            .call("write_stdin",
                  Json::object(
                      {{"session_id", 1}, {"chars", adding("typed.txt")}, {"yield_time_ms", 1000}}))
            .call("write_stdin", Json::object({{"session_id", 1},
                                               {"chars", "echo x > kept/new.txt\nexit 5\n"},
                                               {"yield_time_ms", 30'000}}))
            .next()
            .message("done"),
        std::string("policy: ") + policy +
            "\nexpect: {changes: any}\ntools: {enable: [exec_command, apply_patch]}\n");
    const ProgramEnd end = folder.run({"--fresh"});
    BOOST_TEST(end.status == 0, end.errors);
    const std::string diff = folder.artifact("changes.diff");
    BOOST_TEST(!holds(diff, "kept/new.txt"), diff);
    BOOST_TEST(!holds(diff, "AGENTS.md"), diff);
    BOOST_TEST(!holds(diff, "typed.txt"), diff);
    return folder.records("tool.output");
  };

  const auto denied = with("policy.yaml");
  BOOST_REQUIRE(denied.size() == 6u);
  // The run has no such tool then, and the sandbox no such program.
  for (std::size_t i = 0; i < 3; ++i)
    BOOST_TEST(denied[i]["exit"].integer_at("code", -1) == 127, folder.output(i));
  BOOST_TEST(folder.artifact("changes.diff") == "");

  const auto allowed = with("open.yaml");
  BOOST_REQUIRE(allowed.size() == 6u);
  BOOST_TEST(allowed[0]["success"].boolean());
  BOOST_TEST(!allowed[1]["success"].boolean());
  BOOST_TEST(!allowed[2]["success"].boolean());
  // A shell knows no such program: what is typed into one is never the tool.
  BOOST_TEST(holds(folder.output(4) + folder.output(5), "apply_patch: command not found"),
             folder.output(4) + folder.output(5));
  BOOST_TEST(allowed[5]["exit"].integer_at("code", -1) == 5, folder.output(5));
  BOOST_TEST(holds(folder.artifact("changes.diff"), "b/new.txt"));
}

BOOST_AUTO_TEST_SUITE_END()
