#include "app/run/acceptance.h"

#include <boost/test/unit_test.hpp>

#include "tests/app/run/run_bench.h"

using namespace sortie;
using sortie::test::end_of;
using sortie::test::RunBench;

namespace {

FakeLauncher::Answer failing(const std::string& output) {
  return {.output = output, .ends = ExitStatus{.code = 1}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acceptance)

BOOST_AUTO_TEST_CASE(work_that_passes_its_verification_is_accepted) {
  RunBench bench;
  bench.put_at_start("a.txt", "before\n");
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");

  const std::string feedback = acceptance.evaluate_end(bench.agent);

  BOOST_TEST(feedback == "");
  BOOST_TEST((bench.result.verified == true));
  BOOST_TEST(bench.result.verification_rounds == 1);
  BOOST_TEST(bench.result.changed_files == 1);
  BOOST_REQUIRE_EQUAL(bench.host().commands.started.size(), 1u);
  BOOST_TEST(bench.host().commands.started[0].argv.back() == "make test");
}

BOOST_AUTO_TEST_CASE(nothing_of_the_agents_runs_while_its_work_is_judged) {
  RunBench bench;
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");
  bench.agent.running = 2;
  bool ran_beside = false;
  bench.host().commands.answer = [&](const Command&) {
    ran_beside = bench.agent.running > 0;
    return FakeLauncher::Answer{};
  };

  acceptance.evaluate_end(bench.agent);

  BOOST_TEST(!ran_beside);
  BOOST_TEST(bench.agent.asked > 0);
}

BOOST_AUTO_TEST_CASE(each_verification_has_a_private_set_of_its_own) {
  RunBench bench;
  bench.verify_by("make");
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");

  acceptance.evaluate_end(bench.agent);
  acceptance.run_tests({});

  const auto& started = bench.host().commands.started;
  BOOST_REQUIRE_EQUAL(started.size(), 4u);
  BOOST_TEST(started[0].private_set == started[1].private_set);
  BOOST_TEST(started[1].private_set != started[2].private_set);
  BOOST_TEST(bench.host().dropped ==
                 std::vector<std::string>({started[0].private_set, started[2].private_set}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_failed_verification_goes_back_until_the_rounds_are_used_up) {
  RunBench bench;
  bench.verify_by("make test");
  bench.inputs.task.verify.rounds = 1;
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");
  bench.host().commands.answer = [](const Command&) { return failing("test_one failed\n"); };

  const std::string feedback = acceptance.evaluate_end(bench.agent);
  const RunEnds end = end_of([&] { acceptance.evaluate_end(bench.agent); });

  BOOST_TEST(feedback.find("test_one failed") != feedback.npos);
  BOOST_TEST(feedback.find("(round 1 of 2)") != feedback.npos);
  BOOST_TEST((end.code == ExitCode::task_failed));
  BOOST_TEST(end.reason == "verification failed after 2 rounds");
  BOOST_TEST((bench.result.verified == false));
}

BOOST_AUTO_TEST_CASE(a_failures_output_goes_back_as_often_as_rounds_say) {
  for (const int rounds : {0, 1, 3}) {
    BOOST_TEST_CONTEXT("rounds: " << rounds) {
      RunBench bench;
      bench.verify_by("make test");
      bench.inputs.task.verify.rounds = rounds;
      Acceptance& acceptance = bench.open();
      bench.change("a.txt", "after\n");
      bench.host().commands.answer = [](const Command&) { return failing("no\n"); };

      for (int round = 0; round < rounds; ++round)
        BOOST_TEST(!acceptance.evaluate_end(bench.agent).empty());
      const RunEnds end = end_of([&] { acceptance.evaluate_end(bench.agent); });

      BOOST_TEST((end.code == ExitCode::task_failed));
      BOOST_TEST(bench.result.verification_rounds == rounds + 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_diff_is_held_to_what_the_task_expects_of_it) {
  const struct {
    const char* name;
    ExpectedDiff expected;
    std::string says;  ///< "": it holds
  } rows[] = {
      {"nothing is limited", {}, ""},
      {"as many files", {.max_files = 2}, ""},
      {"too many files", {.max_files = 1}, "2 changed files, and the task allows 1"},
      {"as many lines", {.max_lines = 3}, ""},
      {"too many lines", {.max_lines = 2}, "3 added and deleted lines, and the task allows 2"},
      {"all paths are allowed", {.allow = {"src/**", "docs/**"}}, ""},
      {"a path is not allowed", {.allow = {"src/**"}}, "(expect.diff.allow): docs/b.md"},
      {"a path is denied", {.deny = {"docs"}}, "(expect.diff.deny): docs/b.md"},
      {"denied, though allowed", {.allow = {"*"}, .deny = {"*.md"}}, "docs/b.md"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RunBench bench;
      bench.put_at_start("src/a.txt", "one\n");
      bench.inputs.task.expect.diff = row.expected;
      bench.inputs.task.verify.rounds = 1;
      Acceptance& acceptance = bench.open();
      bench.change("src/a.txt", "two\n");
      bench.change("docs/b.md", "new\n");

      const std::string feedback = acceptance.evaluate_end(bench.agent);

      BOOST_TEST(feedback.empty() == row.says.empty(), feedback);
      BOOST_TEST(feedback.find(row.says) != std::string::npos, feedback);
      if (row.says.empty()) continue;
      const RunEnds end = end_of([&] { acceptance.evaluate_end(bench.agent); });
      BOOST_TEST((end.code == ExitCode::task_failed));
      BOOST_TEST(end.reason.find(row.says) != std::string::npos, end.reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_verification_that_makes_something_runs_once_more) {
  RunBench bench;
  bench.inputs.task.verify.in = VerifyIn::run;
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");
  bench.host().commands.answer = [&](const Command&) {
    bench.change("report.xml", "the same each time");
    return FakeLauncher::Answer{};
  };

  acceptance.evaluate_end(bench.agent);

  BOOST_TEST(bench.host().commands.started.size() == 2u);
  BOOST_TEST((bench.result.verified == true));
  BOOST_TEST(acceptance.made_by_verification().count("report.xml") == 1u);
}

BOOST_AUTO_TEST_CASE(what_a_verification_makes_in_a_tree_of_its_own_is_in_no_diff) {
  RunBench bench;
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");
  bench.host().commands.answer = [&](const Command&) {
    bench.change("report.xml", "the same each time");
    return FakeLauncher::Answer{};
  };

  acceptance.evaluate_end(bench.agent);
  acceptance.check_diff("done");

  BOOST_TEST(bench.host().commands.started.size() == 2u);
  BOOST_TEST((bench.result.verified == true));
  BOOST_TEST(acceptance.made_by_verification().empty());
  BOOST_TEST(bench.result.changed_files == 1);
  BOOST_TEST(bench.result.verified_diff == digest_of(*bench.tree().diff()));
}

BOOST_AUTO_TEST_CASE(what_is_written_to_the_runs_tree_while_its_diff_is_verified_ends_the_run) {
  RunBench bench;
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");
  bench.host().commands.answer = [&](const Command&) {
    write_file(SwappedTree::aside(bench.copy()) / "a.txt", "by a server\n");
    return FakeLauncher::Answer{};
  };

  const RunEnds end = end_of([&] { acceptance.evaluate_end(bench.agent); });

  BOOST_TEST((end.code == ExitCode::task_failed));
  BOOST_TEST(end.reason == "changed after its verification, by no call of the agent: a.txt");
  BOOST_TEST(!bench.result.verified.has_value());
}

BOOST_AUTO_TEST_CASE(a_verification_that_leaves_a_build_product_runs_once) {
  RunBench bench;
  bench.inputs.task.verify.in = VerifyIn::run;
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "after\n");
  bench.host().commands.answer = [&](const Command&) {
    bench.change("product.o", "another each time ");
    return FakeLauncher::Answer{};
  };

  acceptance.evaluate_end(bench.agent);

  BOOST_TEST(bench.host().commands.started.size() == 1u);
  BOOST_TEST((bench.result.verified == true));
  BOOST_TEST(bench.result.changed_files == 1);
  BOOST_REQUIRE(bench.result.left_out.size() == 1u);
  BOOST_TEST(bench.result.left_out.front().path == "product.o");
}

BOOST_AUTO_TEST_CASE(a_verification_that_changes_what_it_judges_is_told_then_ends_the_run) {
  RunBench bench;
  bench.verify_by("make test");
  bench.inputs.task.verify.rounds = 1;
  Acceptance& acceptance = bench.open();
  bench.host().commands.answer = [&](const Command&) {
    bench.change("a.txt", std::to_string(bench.host().commands.started.size()));
    return FakeLauncher::Answer{};
  };

  const std::string feedback = acceptance.evaluate_end(bench.agent);

  BOOST_TEST(feedback.find("it wrote files that your diff has otherwise, or has not: a.txt.") !=
                 std::string::npos,
             feedback);
  BOOST_TEST((bench.result.verified == false));
  const RunEnds end = end_of([&] { acceptance.evaluate_end(bench.agent); });

  BOOST_TEST((end.code == ExitCode::task_failed));
  BOOST_TEST(end.reason == "the verification changes what it checks: a.txt");
  BOOST_TEST((bench.result.verified == false));
}

BOOST_AUTO_TEST_CASE(what_a_stage_verified_is_verified_anew_only_where_it_was_written_to) {
  RunBench bench;
  bench.verify_by("make test");
  Acceptance& acceptance = bench.open();
  bench.change("a.txt", "one\n");

  acceptance.evaluate_stage(bench.agent);
  acceptance.evaluate_end(bench.agent);
  const std::size_t untouched = bench.host().commands.started.size();
  acceptance.evaluate_stage(bench.agent);
  bench.change("a.txt", "two, and longer\n");
  acceptance.doubt_changed_tree();
  const bool doubted = !bench.result.verified.has_value();
  acceptance.evaluate_end(bench.agent);

  BOOST_TEST(untouched == 1u);
  BOOST_TEST(doubted);
  BOOST_TEST(bench.host().commands.started.size() == 3u);
}

BOOST_AUTO_TEST_CASE(changes_that_the_task_expects_and_that_are_not_there_go_back) {
  RunBench bench;
  bench.put_at_start("a.txt", "before\n");
  Acceptance& acceptance = bench.open();

  const std::string feedback = acceptance.evaluate_end(bench.agent);

  BOOST_TEST(feedback != "");
  BOOST_TEST(!bench.result.verified.has_value());
}

BOOST_AUTO_TEST_CASE(a_secret_in_the_diff_or_the_message_ends_the_run_or_is_told) {
  const struct {
    const char* name;
    std::string file;
    std::string message;
    OnLeak on_leak;
    std::string told;
  } rows[] = {
      {"in the diff", "key = s3cr3t-value\n", "done", OnLeak::fail,
       "the diff holds the value of DB_PASSWORD at a.txt:1"},
      {"in the message", "clean\n", "it is s3cr3t-value", OnLeak::fail,
       "the final message holds the value of DB_PASSWORD"},
      {"only told", "key = s3cr3t-value\n", "done", OnLeak::report,
       "LEAK: the diff holds the value of DB_PASSWORD at a.txt:1"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      RunBench bench;
      bench.redactor.add({"DB_PASSWORD", "s3cr3t-value"});
      bench.inputs.policy.on_leak = row.on_leak;
      Acceptance& acceptance = bench.open();
      bench.change("a.txt", row.file);
      acceptance.evaluate_end(bench.agent);

      if (row.on_leak == OnLeak::fail) {
        const RunEnds end = end_of([&] { acceptance.check_diff(row.message); });
        BOOST_TEST((end.code == ExitCode::leak));
        BOOST_TEST(end.reason == row.told);
      } else {
        acceptance.check_diff(row.message);
        BOOST_REQUIRE_EQUAL(bench.result.warnings.size(), 1u);
        BOOST_TEST(bench.result.warnings[0] == row.told);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_diff_that_touches_a_protected_path_ends_the_run) {
  RunBench bench;
  bench.put_at_start("ci.yml", "on: push\n");
  bench.inputs.policy.protect = {"ci.yml"};
  Acceptance& acceptance = bench.open();
  bench.change("ci.yml", "on: nothing\n");
  acceptance.evaluate_end(bench.agent);

  const RunEnds end = end_of([&] { acceptance.check_diff("done"); });

  BOOST_TEST((end.code == ExitCode::integrity));
  BOOST_TEST(end.reason == "the protected path ci.yml was changed");
}

// What a suite prints that is red at the start, and after work on it.
constexpr const char* kRedAtStart = "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n";

BOOST_AUTO_TEST_CASE(a_suite_that_is_red_at_the_start_is_held_to_no_new_failures) {
  const struct {
    const char* name;
    const char* before;
    int before_code;
    const char* after;
    int after_code;
    const char* says;  ///< in the feedback; "": it is accepted
  } rows[] = {
      {"the same fails", kRedAtStart, 1, kRedAtStart, 1, ""},
      {"all is mended", kRedAtStart, 1, "1..3\nok 1 - a\nok 2 - b\nok 3 - c\n", 0, ""},
      {"another fails", kRedAtStart, 1, "1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n", 1,
       "new failures: c"},
      {"one instead of another", kRedAtStart, 1, "1..3\nnot ok 1 - a\nok 2 - b\nok 3 - c\n", 1,
       "new failures: a"},
      {"a test is taken away", kRedAtStart, 1, "1..2\nnot ok 1 - b\nok 2 - c\n", 1,
       "passed before, and now skipped or missing: a"},
      {"it ends before its tests", kRedAtStart, 1, "Segmentation fault\n", 1,
       "no complete results of TAP tests"},
      {"it ends in the middle", kRedAtStart, 1, "1..3\nok 1 - a\nnot ok 2 - b\n", 1,
       "no complete results of TAP tests"},
      {"another exit code", kRedAtStart, 1, kRedAtStart, 2, "the exit code was 1"},
      {"the shell does not find it", kRedAtStart, 127, kRedAtStart, 127, "it has to pass"},
      {"nothing ran at the start", "1..0\n", 1, "1..0\n", 1, "it has to pass"},
      {"no names, the same code", "2 problems\n", 1, "3 problems\n", 1, ""},
      {"no names, another code", "2 problems\n", 1, "2 problems\n", 2, "the exit code was 1"},
      {"green at the start", "fine\n", 0, "no\n", 1, "it passed before"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RunBench bench;
      bench.verify_by("make test");
      bench.inputs.task.verify.baseline = VerifyBaseline::no_new_failures;
      Acceptance& acceptance = bench.open();
      bool worked = false;
      bench.host().commands.answer = [&](const Command&) {
        return FakeLauncher::Answer{
            .output = worked ? row.after : row.before,
            .ends = ExitStatus{.code = worked ? row.after_code : row.before_code}};
      };
      acceptance.verify_start();
      bench.change("a.txt", "after\n");
      worked = true;

      const std::string feedback = acceptance.evaluate_end(bench.agent);

      BOOST_TEST(feedback.empty() == (*row.says == '\0'), feedback);
      BOOST_TEST(feedback.find(row.says) != std::string::npos, feedback);
      BOOST_TEST((bench.result.verified == feedback.empty()));
      const bool excused = feedback.empty() && row.after_code != 0;
      BOOST_TEST(bench.result.warnings.size() == (excused ? 1u : 0u));
    }
  }
}

BOOST_AUTO_TEST_CASE(each_command_has_a_baseline_of_its_own) {
  RunBench bench;
  bench.verify_by("lint");
  bench.verify_by("make test");
  bench.inputs.task.verify.baseline = VerifyBaseline::no_new_failures;
  Acceptance& acceptance = bench.open();
  bench.host().commands.answer = [](const Command& command) {
    if (command.argv.back() == "lint") return failing("old problem\n");
    return FakeLauncher::Answer{};
  };
  acceptance.verify_start();
  bench.change("a.txt", "after\n");
  bench.host().commands.answer = [](const Command&) { return failing("new\n"); };

  const std::string feedback = acceptance.evaluate_end(bench.agent);

  BOOST_TEST(feedback.find("`make test`") != std::string::npos, feedback);
  BOOST_TEST(feedback.find("it passed before") != std::string::npos, feedback);
}

BOOST_AUTO_TEST_SUITE_END()
