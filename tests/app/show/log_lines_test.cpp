// The log of a run: events in, lines out.
#include "app/show/log_lines.h"

#include <boost/test/unit_test.hpp>

#include "tests/fakes/scripted_model.h"

namespace sortie::test {
namespace {

using Lines = std::vector<std::string>;
using namespace std::chrono_literals;

struct Log {
  Redactor redactor{{{"A_TOKEN", "s3cr3t-value"}}};
  LogStyle style;
  LogLines lines;
  Lines printed;  ///< a group is "{TITLE}", its end "{}"

  explicit Log(LogStyle given = {}, LogLines::Options options = {.rounds = 3})
      : style(given), lines(options, redactor) {}

  void take(const std::vector<LogLine>& more) {
    for (const LogLine& line : more)
      printed.push_back(line.kind == LogLine::Kind::group ? "{" + line.text + "}" : line.text);
  }
  void on(RunEvent event) { take(lines.on(style, event)); }
  void says(int turn, const std::string& text) {
    Response answer = response({assistant(text)}, Usage{1000, 0, 200, 0});
    on({turn, TurnStarted{}});
    on(model_response_event(turn, answer));
  }
  void runs(int turn, const char* program, int code = 0, const std::string& output = {}) {
    const Json actions =
        Json::array({Json::object({{"kind", "run_command"}, {"argv", Json::array({program})}})});
    on(approval_event(turn, {"c", "shell", "{}"}, actions, Json::object({{"decision", "allow"}})));
    ExitStatus exit;
    exit.code = code;
    on({turn, ToolOutputRecord{.call_id = "c",
                               .tool = "shell",
                               .success = code == 0,
                               .exit = exit,
                               .duration = 100ms,
                               .output = output}});
  }
  void verified(int round, int code, const std::string& output,
                VerificationPhase phase = VerificationPhase::after) {
    VerificationRecord record{phase, round, "make test", {}};
    on({2, record});
    VerificationCompleted completed{record, {}, output};
    completed.exit.code = code;
    completed.exit.duration = 2s;
    completed.passed = code == 0;
    on({2, completed});
  }
  const Lines& end(bool with_message = false) {
    take(lines.finish(style, with_message));
    return printed;
  }
};

std::string numbered(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(log_lines)

BOOST_AUTO_TEST_CASE(
    the_agents_words_stand_between_its_calls_and_the_last_ones_are_left_to_stdout) {
  for (const bool with_message : {false, true}) {
    Log log;
    log.says(1, "I look first.\n\nThen I mend it: s3cr3t-value\x1b[2J.");
    log.runs(1, "make");
    log.says(2, "All done.");
    Lines expected = {"[1] > I look first.", "      Then I mend it: [REDACTED:A_TOKEN] [2J.",
                      "[1] $ make (0.1 s)"};
    if (with_message) expected.emplace_back("[2] > All done.");
    BOOST_TEST(log.end(with_message) == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(long_words_are_shortened_unless_all_is_wanted) {
  for (const bool verbose : {false, true}) {
    Log log({.verbose = verbose});
    log.says(1, numbered(9));
    log.runs(1, "make");
    BOOST_TEST(log.printed.size() == (verbose ? 9u + 2 : 5u + 1));
    if (!verbose) BOOST_TEST(log.printed[4] == "      … 5 more lines");
  }
}

BOOST_AUTO_TEST_CASE(a_failed_verification_shows_its_last_lines_and_its_round) {
  Log log;
  log.says(2, "All done.");
  log.verified(1, 2, numbered(50));
  BOOST_REQUIRE(log.printed.size() == 1u + 1 + 1 + 40);
  BOOST_TEST(log.printed[0] == "[2] > All done.");
  BOOST_TEST(log.printed[1] == "verify: $ make test (exit 2, round 1 of 3, 2.0 s)");
  BOOST_TEST(log.printed[2] == "    | … 10 lines above");
  BOOST_TEST(log.printed[3] == "    | line 11");
  BOOST_TEST(log.printed.back() == "    | line 50");
}

BOOST_AUTO_TEST_CASE(a_code_that_no_command_can_have_is_told_as_unknown) {
  Log log;
  log.verified(1, -1, "");
  BOOST_REQUIRE(!log.printed.empty());
  BOOST_TEST(log.printed[0] == "verify: $ make test (exit code unknown, round 1 of 3, 2.0 s)");
}

BOOST_AUTO_TEST_CASE(the_agents_words_come_before_the_expectation_that_they_missed) {
  Log log;
  log.says(1, "There is nothing to do.");
  log.on({1, CheckRecord{.check = "expect", .saw = "no file was changed"}});
  BOOST_REQUIRE(log.printed.size() == 1u);  // the round's line is the run's own
  BOOST_TEST(log.printed[0] == "[1] > There is nothing to do.");
}

BOOST_AUTO_TEST_CASE(between_the_commands_of_run_tests_it_is_the_call_that_goes_on) {
  Log log;
  log.on({1, TurnStarted{}});
  log.on(approval_event(1, {"c", "run_tests", "{}"}, Json::array(),
                        Json::object({{"decision", "allow"}})));
  log.verified(1, 0, "ok\n", VerificationPhase::run_tests);
  BOOST_TEST(log.lines.status("3 s").ends_with(" | run_tests"), log.lines.status("3 s"));
}

BOOST_AUTO_TEST_CASE(before_the_work_a_failure_is_shown_where_it_is_one) {
  for (const bool must_pass : {false, true}) {
    Log log({}, {.rounds = 1, .start_must_pass = must_pass});
    log.verified(1, 2, "cause\n", VerificationPhase::before);
    Lines expected = {"verify, before the work: $ make test (exit 2, 2.0 s)"};
    if (must_pass) expected.emplace_back("    | cause");
    BOOST_TEST(log.end() == expected, boost::test_tools::per_element());
  }
  Log passed;
  passed.verified(1, 0, "fine\n");
  BOOST_TEST(passed.end() == Lines({"verify: $ make test (passed, 2.0 s)"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(verbose_shows_output_as_it_comes_and_not_twice) {
  Log log({.verbose = true});
  log.on(approval_event(
      1, {"c", "shell", "{}"},
      Json::array({Json::object({{"kind", "run_command"}, {"argv", Json::array({"make"})}})}),
      Json::object({{"decision", "allow"}})));
  const int one = 1;
  const int other = 2;
  log.take(log.lines.on_output_text(log.style, &one, "first\nsec"));
  log.take(log.lines.on_output_text(log.style, &other, "beside\n"));
  log.take(log.lines.on_output_text(log.style, &one, "ond s3cr3t-value\nrest"));
  ExitStatus exit;
  log.on({1, ToolOutputRecord{.call_id = "c", .tool = "shell", .exit = exit, .output = "all"}});

  BOOST_TEST(
      log.end() == Lines({"[1] $ make", "    | first", "    | beside",
                          "    | second [REDACTED:A_TOKEN]", "    | rest", "[1] done: 0.0 s"}),
      boost::test_tools::per_element());
  Log quiet;
  BOOST_TEST(quiet.lines.on_output_text(quiet.style, &one, "text\n").empty());
}

BOOST_AUTO_TEST_CASE(turns_with_something_to_show_are_groups) {
  Log log({}, {.groups = true});
  log.says(1, "I look first.");
  log.runs(1, "make");
  log.says(2, "");
  log.runs(2, "true");
  log.says(3, "Done.");
  log.verified(1, 0, "");

  BOOST_TEST(log.end() == Lines({"{turn 1: I look first.}", "[1] > I look first.",
                                 "[1] $ make (0.1 s)", "{}", "{turn 2}", "[2] $ true (0.1 s)", "{}",
                                 "verify: $ make test (passed, 2.0 s)"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_plan_is_told_by_its_step) {
  Log log;
  const auto plan = [&](const char* first, const char* second) {
    log.on({1, PlanUpdated{
                   .explanation = "",
                   .steps = Json::array({Json::object({{"step", "look"}, {"status", first}}),
                                         Json::object({{"step", "mend"}, {"status", second}})})}});
  };
  plan("in_progress", "pending");
  plan("completed", "completed");
  BOOST_TEST(log.end() == Lines({"[1] plan, step 1 of 2: look", "[1] plan, 2 of 2 steps done"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_search_is_told_with_what_it_looks_for) {
  Log log;
  log.says(1, "");
  log.on({1, CallDecided{.call_id = "c1",
                         .tool = "search_files",
                         .actions = {{.path = "."}},
                         .decision = Ruling::allow}});
  log.on({1, ToolCalled{.call = {.call_id = "c1",
                                 .name = "search_files",
                                 .arguments = R"({"pattern": "def \\w+", "glob": "*.py"})"}}});
  log.on({1, ToolOutputRecord{.call_id = "c1", .tool = "search_files", .success = true}});

  BOOST_TEST(log.end() == Lines({"[1] search_files 'def \\w+' '*.py'"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_model_that_takes_over_is_told_with_what_it_does_not_get) {
  const struct {
    int dropped;
    int images;
    const char* told;
  } rows[] = {
      {0, 0, ""},
      {1, 0, ", without 1 item of reasoning or search"},
      {2, 0, ", without 2 items of reasoning or search"},
      {1, 1, ", without 1 image"},
      {2, 2, ", without 2 images"},
      {3, 1, ", without 1 image and 2 items of reasoning or search"},
  };
  for (const auto& row : rows) {
    Log log;
    log.on({1, FallbackRecord{.from = "a",
                              .to = "b",
                              .reason = "a is down",
                              .dropped = row.dropped,
                              .dropped_images = row.images}});
    BOOST_TEST(
        log.end() == Lines({std::string("[1] model: a is down; b takes over from a") + row.told}),
        boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_status_says_how_far_it_is_and_what_goes_on) {
  Log log;
  log.says(3, "");
  BOOST_TEST(log.lines.status("9 s") == "turn 3 | 9 s | 1,200 tokens | waiting for the model");
  log.verified(1, 0, "");
  BOOST_TEST(log.lines.status("9 s") == "turn 3 | 9 s | 1,200 tokens | reading the changes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test
