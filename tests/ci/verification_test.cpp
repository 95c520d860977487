#include "ci/verification.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>

#include <deque>

#include "ci/expectations.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// A command that has ended already and left this output.
class EndedCommand : public RunningCommand {
 public:
  EndedCommand(const std::string& output, ExitStatus exit) : exit_(std::move(exit)) {
    Pipe pipe = make_pipe();
    ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
    write_all(pipe.write.get(), output);
    output_ = std::move(pipe.read);
  }
  const Fd& output() const override { return output_; }
  Fd& input() override { return none_; }
  const Fd& errors() const override { return none_; }
  int ended_descriptor() const override { return output_.get(); }
  std::optional<ExitStatus> status() override { return exit_; }
  void ask_to_end() override {}
  void end(Ending why) override { exit_.ending = why; }

 private:
  Fd output_;
  Fd none_;
  ExitStatus exit_;
};

class ScriptedLauncher : public Launcher {
 public:
  struct Row {
    std::string output;
    ExitStatus exit;
  };
  std::deque<Row> rows;
  std::vector<Command> started;
  std::function<void()> on_start{};

  std::unique_ptr<RunningCommand> start(const Command& command) override {
    started.push_back(command);
    if (on_start) on_start();
    const Row row = rows.front();
    rows.pop_front();
    return std::make_unique<EndedCommand>(row.output, row.exit);
  }
};

ExitStatus exited(int code) {
  ExitStatus exit;
  exit.code = code;
  exit.duration = 1500ms;
  return exit;
}

const std::vector<VerifyCommand> kCommands = {
    {{"sh", "-c", "make"}, "make", 30s},
    {{"sh", "-c", "make test"}, "make test", 40min},
};

struct Round {
  VerificationResult run() {
    return run_verification({.setup = setup, .commands = kCommands}, launcher, events, budget,
                            options, stop.get_token());
  }
  std::vector<VerifyCommand> setup;
  FakeClock clock;
  Budget budget{{.time = 10min}, clock};
  ScriptedLauncher launcher;
  EventList events;
  VerificationOptions options{
      .workdir = "/w", .environment = {{"CI", "true"}}, .round = 2, .turn = 7};
  std::stop_source stop;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(verification)

BOOST_AUTO_TEST_CASE(all_commands_pass_in_their_order) {
  Round round;
  round.launcher.rows = {{"built\n", exited(0)}, {"", exited(0)}};

  const VerificationResult result = round.run();

  BOOST_TEST(result.passed);
  BOOST_TEST(!result.stopped);
  const std::vector<std::string> types = {"verification.started", "verification.completed",
                                          "verification.started", "verification.completed"};
  BOOST_TEST(round.events.types() == types, boost::test_tools::per_element());
  BOOST_TEST(round.events.events[1].turn == 7);
  BOOST_TEST(write_json(to_record(round.events.events[1]).data) ==
             R"({"phase":"after","round":2,"command":"make","argv":["sh","-c","make"],)"
             R"("exit":{"ending":"exited","code":0,"duration_ms":1500},"output":"built\n",)"
             R"("dropped_bytes":0,"passed":true})");
  BOOST_TEST(verification_feedback(result, 1, 3) == "");
}

BOOST_AUTO_TEST_CASE(the_tree_can_be_looked_at_between_two_commands) {
  Round round;
  round.setup = {{{"sh", "-c", "npm ci"}, "npm ci", 30s}};
  round.launcher.rows = {{"", exited(0)}, {"", exited(0)}, {"", exited(0)}};
  std::vector<std::size_t> events_before;
  round.options.between = [&] { events_before.push_back(round.events.events.size()); };

  BOOST_TEST(round.run().passed);

  const std::vector<std::size_t> each = {2, 4};
  BOOST_TEST(events_before == each, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_command_gets_its_own_time_or_what_the_run_has_left) {
  Round round;
  round.launcher.rows = {{"", exited(0)}, {"", exited(0)}};

  round.run();

  BOOST_TEST((round.launcher.started[0].timeout == 30s));
  BOOST_TEST((round.launcher.started[1].timeout == 10min));
  BOOST_TEST(round.launcher.started[1].workdir == "/w");
  BOOST_TEST(round.launcher.started[1].environment.at("CI") == "true");
}

BOOST_AUTO_TEST_CASE(the_first_failure_ends_the_round_and_goes_back_to_the_agent) {
  Round round;
  round.launcher.rows = {{"error: no\n", exited(2)}};

  const VerificationResult result = round.run();

  BOOST_TEST(!result.passed);
  BOOST_TEST(!result.stopped);
  BOOST_TEST(round.launcher.started.size() == 1u);
  BOOST_TEST(verification_feedback(result, 2, 3) ==
             "Verification failed (round 2 of 3): `make` ended with exit code 2.\n"
             "Output:\nerror: no\nFix the cause, then end with your final message.");
  BOOST_TEST(write_json(to_json(result)) ==
             R"([{"command":"make","ending":"exited","exit_code":2,"passed":false,)"
             R"("duration_ms":1500,"output":"error: no\n"}])");
}

BOOST_AUTO_TEST_CASE(the_model_that_asks_gets_every_command_that_ran) {
  Round round;
  round.launcher.rows = {{"built\n", exited(0)}, {"", exited(2)}};

  BOOST_TEST(verification_report(round.run()) ==
             "`make` ended with exit code 0 (1.5 s).\nOutput:\nbuilt\n"
             "`make test` ended with exit code 2 (1.5 s).\nIt printed nothing.\n");
}

BOOST_AUTO_TEST_CASE(every_ending_is_told_in_words) {
  const struct {
    ExitStatus exit;
    std::string words;
  } rows[] = {
      {{.ending = Ending::signalled, .code = 11}, "was ended by signal 11"},
      {{.ending = Ending::timed_out, .duration = 30s}, "killed at its time limit, after 30.0 s"},
      {{.ending = Ending::memory_limit, .detail = "512 MiB"}, "was killed: memory_limit (512 MiB)"},
      {{.ending = Ending::not_started, .detail = "no such program"},
       "could not be started (no such program)"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.words) {
      Round round;
      round.launcher.rows = {{"", row.exit}};

      const std::string text = verification_feedback(round.run(), 1, 1);

      BOOST_TEST(text.find(row.words) != std::string::npos, text);
      BOOST_TEST(text.find("It printed nothing.") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_output_is_cleaned_redacted_and_cut_to_head_and_tail) {
  const Redactor redactor(std::vector<Secret>{{"KEY", "s3cret-value"}});
  Round round;
  round.options.redactor = &redactor;
  round.options.shown_bytes = 200;
  std::string output = "first s3cret-value \x1b[31mred\x1b[0m\n";
  for (int i = 0; i < 1000; ++i) output += "line\n";
  round.launcher.rows = {{output + "last \xff\n", exited(1)}};

  const VerificationOutcome outcome = round.run().outcomes.at(0);

  BOOST_TEST(outcome.output.starts_with("first [REDACTED:KEY] red\nline\n"));
  BOOST_TEST(outcome.output.ends_with("line\nlast \xEF\xBF\xBD\n"));
  BOOST_TEST(outcome.output.size() < 400u);
  BOOST_TEST(outcome.dropped_bytes > 4000u);
}

BOOST_AUTO_TEST_CASE(a_round_that_could_not_end_says_nothing_of_the_work) {
  Round stopped;
  stopped.stop.request_stop();
  BOOST_TEST(stopped.run().stopped);
  BOOST_TEST(stopped.launcher.started.empty());

  Round late;
  late.clock.monotonic += 10min;
  BOOST_TEST(late.run().stopped);

  Round cut;
  cut.launcher.on_start = [&] { cut.clock.monotonic += 10min; };
  cut.launcher.rows = {{"", {.ending = Ending::timed_out}}};
  const VerificationResult result = cut.run();
  BOOST_TEST(result.stopped);
  BOOST_TEST(!result.passed);
}

BOOST_AUTO_TEST_CASE(the_start_state_is_judged_by_what_the_task_says) {
  const struct {
    const char* before;
    bool passed;
    StartCheck expected;
  } rows[] = {
      {"any", true, StartCheck::go_on},          {"any", false, StartCheck::go_on},
      {"fail", true, StartCheck::nothing_to_do}, {"fail", false, StartCheck::go_on},
      {"pass", true, StartCheck::go_on},         {"pass", false, StartCheck::must_pass},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.before << row.passed) {
      BOOST_TEST((judge_start(value_named<ExpectedStart>(row.before).value(), row.passed) ==
                  row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_auto_expects_follows_sandbox_and_output_schema) {
  const struct {
    const char* given;
    bool read_only;
    bool has_output_schema;
    const char* expected;
  } rows[] = {
      {"auto", false, false, "required"},   {"auto", true, false, "forbidden"},
      {"auto", false, true, "any"},         {"auto", true, true, "forbidden"},
      {"required", true, true, "required"}, {"forbidden", false, true, "forbidden"},
      {"any", false, false, "any"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.given << row.read_only << row.has_output_schema) {
      const auto given = value_named<ExpectedChanges>(row.given).value();
      BOOST_TEST(name_of(expected_changes(given, row.read_only, row.has_output_schema)) ==
                 std::string(row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_diff_is_judged_by_what_the_task_expects) {
  const struct {
    const char* expected;
    bool has_changes;
    bool holds;
  } rows[] = {
      {"required", true, true},   {"required", false, false}, {"forbidden", true, false},
      {"forbidden", false, true}, {"any", true, true},        {"any", false, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.expected << row.has_changes) {
      const auto expected = value_named<ExpectedChanges>(row.expected).value();
      BOOST_TEST(judge_changes(expected, row.has_changes).empty() == row.holds);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_the_tools_that_were_called_one_call_has_to_succeed) {
  const auto output = [](bool success) {
    ToolOutputRecord record;
    record.success = success;
    return record;
  };
  const struct {
    const char* name;
    std::vector<bool> calls;
    bool expected;
    bool holds;
  } rows[] = {{"no call", {}, true, true},
              {"one that succeeds", {false, true}, true, true},
              {"none that succeeds", {false, false}, true, false},
              {"nothing is expected", {false, false}, false, true}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Tally tally;
      for (const bool success : row.calls) {
        tally.on({1, ToolCalled{}});
        tally.on({1, output(success)});
      }

      const std::string problem = judge_calls(row.expected, tally);

      BOOST_TEST(problem.empty() == row.holds, problem);
      if (!row.holds) BOOST_TEST(problem.find("of 2 calls none did") != std::string::npos, problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_setup_that_fails_is_told_as_such_and_excused_by_no_baseline) {
  Round round;
  round.setup = {{{"sh", "-c", "npm ci"}, "npm ci", 30s}};
  round.launcher.rows = {{"broken\n", exited(1)}};
  VerificationResult before;
  before.passed = false;
  before.outcomes = {{.command = "npm ci", .exit = exited(1), .setup = true}};
  round.options.baseline = &before;

  const VerificationResult result = round.run();

  BOOST_TEST(!result.passed);
  BOOST_REQUIRE(result.outcomes.size() == 1u);
  BOOST_TEST(result.outcomes[0].setup);
  BOOST_TEST(to_json(result).items()[0]["setup"].boolean());
  BOOST_TEST(
      verification_feedback(result, 1, 4)
          .starts_with(
              "Verification failed (round 1 of 4): its setup `npm ci` ended with exit code 1"));
}

BOOST_AUTO_TEST_CASE(a_baseline_compares_commands_with_commands_whatever_was_set_up) {
  Round round;
  round.setup = {{{"sh", "-c", "npm ci"}, "npm ci", 30s}};
  round.launcher.rows = {{"", exited(0)}, {"", exited(0)}, {"", exited(2)}};
  VerificationResult before;
  before.outcomes = {{.command = "npm ci", .passed = true, .setup = true},
                     {.command = "make", .exit = exited(0)},
                     {.command = "make test", .exit = exited(2)}};
  round.options.baseline = &before;

  BOOST_TEST(round.run().passed);
}

BOOST_AUTO_TEST_SUITE_END()
