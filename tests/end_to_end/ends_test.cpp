#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A run that changes a file, then hangs in a command with the marker on its command line.
void prepare_hanging_run(const RunFolder& folder, const std::string& marker) {
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "echo changed > a.txt"})
                        .next()
                        .shell({"sh", "-c", "setsid sleep " + marker + " & sleep " + marker})
                        .next()
                        .message("done"),
                    "policy: auto\n");
}

std::string marker_of(const char* test) {
  return "31557600." + std::to_string(::getpid()) + std::to_string(std::string(test).size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ends)

BOOST_AUTO_TEST_CASE(a_killed_run_leaves_the_tree_untouched_no_process_and_a_valid_prefix) {
  const RunFolder folder;
  const std::string marker = marker_of("kill");
  prepare_hanging_run(folder, marker);
  const auto before = read_tree(folder.workspace());
  Program program(folder.start());
  BOOST_REQUIRE(wait_until(
      [&] { return processes_with("sleep" + std::string(1, '\0') + marker).size() >= 2; }));

  program.signal(SIGKILL);
  program.finish();

  BOOST_TEST(wait_until([&] { return processes_with(marker).empty(); }));
  BOOST_TEST((read_tree(folder.workspace()) == before));
  const VerifyResult verified = verify_run(folder.out() / "transcript.jsonl");
  BOOST_TEST(verified.ok, verified.problem);
  BOOST_TEST(!verified.finished);
  BOOST_TEST(folder.result().string_at("status") == "running");
  BOOST_TEST(folder.records("tool.call").size() == 2);

  // The same command goes on from there.
  const ProgramEnd again = folder.run();
  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(again.errors.find("resumed after record") != std::string::npos, again.errors);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_run_in_order) {
  const struct {
    int signal;
    int status;
  } rows[] = {{SIGINT, 130}, {SIGTERM, 143}};
  for (const auto& row : rows) {
    const RunFolder folder;
    const std::string marker = marker_of(row.signal == SIGINT ? "i" : "te");
    prepare_hanging_run(folder, marker);
    Program program(folder.start());
    BOOST_REQUIRE(wait_until(
        [&] { return processes_with("sleep" + std::string(1, '\0') + marker).size() >= 2; }));

    program.signal(row.signal);
    const ProgramEnd end = program.finish();

    BOOST_TEST(end.status == row.status, end.errors);
    BOOST_TEST(processes_with(marker).empty());
    BOOST_TEST(end.output.empty());
    BOOST_TEST(folder.result().string_at("status") == "interrupted");
    BOOST_TEST(folder.result()["retryable"].boolean());
    BOOST_TEST(folder.artifact("partial.diff").find("+changed") != std::string::npos);
    BOOST_TEST(verify_run(folder.out()).ok);
    BOOST_TEST(verify_run(folder.out()).finished);
    BOOST_TEST(end.errors.find("sortie: interrupted (" + std::to_string(row.status) + "): ") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_second_run_on_the_same_out_is_busy) {
  const RunFolder folder;
  const std::string marker = marker_of("bu-sy");
  prepare_hanging_run(folder, marker);
  Program program(folder.start());
  BOOST_REQUIRE(wait_until(
      [&] { return processes_with("sleep" + std::string(1, '\0') + marker).size() >= 2; }));

  const ProgramEnd second = folder.run();

  BOOST_TEST(second.status == 12);
  BOOST_TEST(second.errors.find(std::to_string(program.pid())) != std::string::npos, second.errors);
  BOOST_TEST(
      second.errors.find("; next: wait for its end, or name another folder") != std::string::npos,
      second.errors);
}

BOOST_AUTO_TEST_CASE(a_time_budget_ends_a_command_and_the_run) {
  const RunFolder folder;
  const std::string marker = marker_of("budget-time");
  prepare_hanging_run(folder, marker);

  const ProgramEnd end = folder.run({"--timeout", "1s"});

  BOOST_TEST(end.status == 4, end.errors);
  BOOST_TEST(folder.result().string_at("status") == "budget");
  BOOST_TEST(processes_with(marker).empty());
  BOOST_TEST(folder.records("budget.exhausted").size() == 1);
}

BOOST_AUTO_TEST_CASE(a_time_budget_ends_a_verification_and_the_run) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"),
                    "policy: auto\nexpect: {changes: any}\nverify: ['sleep 600']\n");

  const ProgramEnd end = folder.run({"--timeout", "1s"});

  BOOST_TEST(end.status == 4, end.errors);
  BOOST_TEST(folder.records("budget.exhausted").size() == 1);
}

BOOST_AUTO_TEST_CASE(verification_feedback_goes_back_until_the_rounds_are_used_up) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write_task(CassetteWriter()
                        .message("done at once")
                        .shell({"sh", "-c", "echo b > a.txt"})
                        .next()
                        .message("done now"),
                    "policy: auto\nverify: {commands: [grep b a.txt], rounds: 2}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "done now\n");
  BOOST_TEST(folder.records("verification.completed").size() == 2);
  BOOST_TEST(folder.result()["verified"].boolean());
  // No change is no success where a change is expected.
  folder.write_task(
      CassetteWriter().message("done").message("done").message("done").message("done"),
      "policy: auto\n");
  BOOST_TEST(folder.run().status == 1);
}

BOOST_AUTO_TEST_CASE(nothing_to_do_costs_nothing) {
  const RunFolder folder;
  folder.write_task(CassetteWriter(), "verify: {commands: ['true'], before: fail}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.result().string_at("status") == "nothing-to-do");
  BOOST_TEST(folder.records("model.request").empty());
  BOOST_TEST(folder.artifact("changes.diff").empty());
}

BOOST_AUTO_TEST_CASE(a_setup_that_fails_on_the_start_state_is_told) {
  for (const bool has_to_pass : {false, true}) {
    const RunFolder folder;
    folder.write_task(CassetteWriter().shell({"sh", "-c", "echo 1 > made"}).next().message("done"),
                      std::string("policy: auto\nverify: {setup: ['test -f made'], commands: "
                                  "['true'], before: ") +
                          (has_to_pass ? "pass}\n" : "fail}\n"));

    const ProgramEnd end = folder.run();

    BOOST_TEST(end.status == (has_to_pass ? 1 : 0), end.errors);
    const Json result = folder.result();
    if (has_to_pass)
      BOOST_TEST(result.string_at("reason").ends_with("failed, in its setup"),
                 result.string_at("reason"));
    else
      BOOST_TEST(write_json(result["warnings"]).find("verify.setup fails on the start state") !=
                 std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(the_start_state_is_held_to_what_the_task_says_of_it) {
  const struct {
    const char* before;
    const char* command;
    int status;
    const char* word;
    std::size_t requests;
  } rows[] = {
      {"fail", "true", 0, "nothing-to-do", 0},   {"fail", "test -e b.txt", 0, "success", 2},
      {"pass", "false", 1, "task-failed", 0},    {"pass", "true", 0, "success", 2},
      {"any", "test -e b.txt", 0, "success", 2},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.before << ": " << row.command) {
      const RunFolder folder;
      folder.write_task(
          CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
          std::string("policy: auto\nverify: {commands: ['") + row.command +
              "'], before: " + row.before + "}\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(folder.result().string_at("status") == row.word);
      BOOST_TEST(folder.records("model.request").size() == row.requests);
    }
  }
}

BOOST_AUTO_TEST_CASE(changes_are_held_to_what_the_task_expects) {
  const struct {
    const char* expected;
    bool changes;
    int status;
  } rows[] = {{"auto", true, 0},      {"auto", false, 1},      {"required", false, 1},
              {"forbidden", true, 1}, {"forbidden", false, 0}, {"any", true, 0},
              {"any", false, 0},      {"required", true, 0}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.expected << ", changes: " << row.changes) {
      const RunFolder folder;
      CassetteWriter cassette;
      if (row.changes) cassette.shell({"sh", "-c", "echo b > b.txt"}).next();
      for (int round = 0; round < 4; ++round) cassette.message("done");
      folder.write_task(cassette,
                        std::string("policy: auto\nexpect: {changes: ") + row.expected + "}\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(std::filesystem::exists(folder.out() / "changes.diff") == (row.status == 0));
      BOOST_TEST(folder.result()["verified"].is_null());
    }
  }
}

BOOST_AUTO_TEST_CASE(rounds_bound_what_goes_back_to_the_agent) {
  for (const std::size_t rounds : {0u, 1u, 2u, 3u}) {
    const RunFolder folder;
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", "echo b > b.txt"}).next();
    for (int round = 0; round < 5; ++round) cassette.message("it is all green now");
    folder.write_task(cassette, "policy: auto\nverify: {commands: ['echo seen; false'], rounds: " +
                                    std::to_string(rounds) + "}\n");

    const ProgramEnd end = folder.run();

    BOOST_TEST(end.status == 1, end.errors);
    BOOST_TEST(folder.records("verification.completed").size() == rounds + 1);
    BOOST_TEST(folder.records("model.request").size() == rounds + 2);
    BOOST_TEST(!folder.result()["verified"].boolean(true));
    BOOST_TEST(folder.artifact("partial.diff").find("+b") != std::string::npos);
    BOOST_TEST(end.output.empty());
  }
}

BOOST_AUTO_TEST_CASE(work_that_is_done_is_judged_though_the_model_says_nothing_more) {
  const struct {
    const char* name;
    const char* command;
    const char* task;
    int status;
    bool warned;
  } rows[] = {
      {"it holds", "echo changed > a.txt", "verify: [[grep, changed, a.txt]]\n", 0, true},
      {"nothing to verify", "echo changed > a.txt", "", 0, true},
      {"it does not hold", "echo other > a.txt",
       "verify: {commands: [[grep, changed, a.txt]], rounds: 0}\n", 1, false},
      {"nothing was done", "cat a.txt", "expect: {changes: any}\n", 5, false},
      {"an answer was asked for", "echo changed > a.txt",
       "output: {schema: answer.json}\nexpect: {changes: any}\n", 5, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      folder.write("answer.json", R"({"type": "object"})");
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", row.command}).next();
      folder.write_task(cassette.next().next(), std::string("policy: auto\n") + row.task);

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == row.status, end.errors);
      const std::string warnings = write_json(folder.result()["warnings"]);
      BOOST_TEST((warnings.find("without a final message") != std::string::npos) == row.warned,
                 warnings);
      if (row.status == 0)
        BOOST_TEST(folder.artifact("changes.diff").find("+changed") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
