#include "app/show/progress.h"

#include <boost/test/unit_test.hpp>

namespace sortie::test {
namespace {

using Lines = std::vector<std::string>;

Json run_of(const std::vector<Json>& argv) {
  return Json::array({Json::object({{"kind", "call_tool"}, {"name", "shell"}}),
                      Json::object({{"kind", "run_command"}, {"argv", Json::array(argv)}})});
}

Json path_of(const char* path) {
  return Json::array({Json::object({{"kind", "read_path"}, {"path", path}})});
}

Json decided(const char* decision, const char* reason = "") {
  return Json::object({{"decision", decision}, {"reason", reason}});
}

struct Calls {
  Redactor redactor{{{"A_TOKEN", "s3cr3t-value"}}};
  LogStyle style;
  CallLines lines{redactor};
  Lines printed;

  explicit Calls(LogStyle given = {}) : style(given) {}

  void approve(const std::string& id, const std::string& tool, Json actions,
               Json decision = decided("allow")) {
    const RunEvent event = approval_event(4, {id, tool, "{}"}, actions, decision);
    for (auto& line : lines.on_approval(style, 4, std::get<CallDecided>(event.what)))
      printed.push_back(std::move(line));
  }
  void output(ToolOutputRecord record) {
    record.duration = std::chrono::milliseconds(1300);
    for (auto& line : lines.on_output(style, 4, record)) printed.push_back(std::move(line));
  }
};

ExitStatus exit_of(Ending ending, int code) {
  ExitStatus status;
  status.ending = ending;
  status.code = code;
  return status;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(call_lines)

BOOST_AUTO_TEST_CASE(each_of_the_calls_that_run_side_by_side_has_its_own_line) {
  Calls calls;
  calls.approve("a", "view_image", path_of("yes.png"));
  calls.approve("b", "view_image", path_of("no.png"));
  calls.approve("c", "shell", run_of({"rm", "x"}), decided("deny", "no rule allows it"));
  calls.approve("d", "git_status", Json::array());
  calls.output({.call_id = "a", .tool = "view_image", .output = "PNG"});
  calls.output(
      {.call_id = "b", .tool = "view_image", .success = false, .output = "no image\nat all"});
  calls.output({.call_id = "c",
                .tool = "shell",
                .success = false,
                .output = "Denied: no rule",
                .verdict = "denied",
                .declined = "no rule"});
  calls.output({.call_id = "d", .tool = "git_status", .output = "clean"});

  BOOST_TEST(
      calls.printed == Lines({"[4] view_image yes.png (1.3 s)",
                              "[4] view_image no.png (failed: no image … 1 more line)",
                              "[4] $ rm x (denied: no rule allows it)", "[4] git_status (1.3 s)"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_command_that_failed_is_followed_by_its_last_lines) {
  Calls calls;
  calls.approve("a", "shell", run_of({"make"}));
  calls.output({.call_id = "a",
                .tool = "shell",
                .success = false,
                .exit = exit_of(Ending::exited, 2),
                .output = "1\n2\n3\n4\n5\n6\ns3cr3t-value\x1b[31m\n\n"});
  calls.approve("b", "shell", run_of({"grep", "x", "y"}));
  calls.output(
      {.call_id = "b", .tool = "shell", .success = false, .exit = exit_of(Ending::exited, 1)});

  BOOST_TEST(
      calls.printed == Lines({"[4] $ make (exit 2, 1.3 s)", "    | … 2 lines above", "    | 3",
                              "    | 4", "    | 5", "    | 6", "    | [REDACTED:A_TOKEN] [31m",
                              "[4] $ grep x y (exit 1, 1.3 s)"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_command_is_shown_so_that_it_can_be_pasted) {
  const struct {
    std::vector<Json> argv;
    const char* shown;
  } rows[] = {
      {{"echo", "two words", "it's", ""}, "$ echo 'two words' 'it'\\''s' ''"},
      {{"bash", "-lc", "make test 2>&1 | tail -5"}, "$ make test 2>&1 | tail -5"},
      {{"/bin/sh", "-c", "a"}, "$ a"},
      {{"bash", "x.sh", "-c"}, "$ bash x.sh -c"},
      {{"sh", "-c", "cat > x.py <<'E'\nprint(1)\nE"}, "$ cat > x.py <<'E' … 2 more lines"},
      {{"grep", "a\nb", "f"}, "$ grep 'a … 1 more line"},
      {{"echo", "::set-env name=A::b\x1b[2J\u202e"}, "$ echo '::set-env name=A::b [2J '"},
  };
  for (const auto& row : rows) {
    Calls calls;
    calls.approve("a", "shell", run_of(row.argv));
    calls.output({.call_id = "a", .tool = "shell", .exit = exit_of(Ending::exited, 0)});
    BOOST_TEST(calls.printed == Lines{"[4] " + std::string(row.shown) + " (1.3 s)"},
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(verbose_shows_scripts_whole_and_outputs_below_their_commands) {
  Calls calls({.verbose = true});
  calls.approve("a", "shell", run_of({"one"}), decided("deny", "no rule"));
  calls.approve("b", "shell", run_of({"sh", "-c", "cat <<E\ntext\nE"}));
  calls.output({.call_id = "a", .tool = "shell", .success = false, .output = "Denied"});
  calls.output({.call_id = "b",
                .tool = "shell",
                .exit = exit_of(Ending::exited, 0),
                .output = "first\ns3cr3t-value\n"});
  calls.approve("c", "shell", run_of({"seen"}));
  calls.lines.output_was_shown();
  calls.output({.call_id = "c",
                .tool = "shell",
                .success = false,
                .exit = exit_of(Ending::exited, 3),
                .output = "shown before"});

  BOOST_TEST(calls.printed ==
                 Lines({"[4] $ cat <<E … 2 more lines", "      text", "      E",
                        "[4] $ one (denied: no rule)", "    | first", "    | [REDACTED:A_TOKEN]",
                        "[4] done: 1.3 s", "[4] $ seen", "[4] exit 3, 1.3 s"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(on_a_terminal_the_command_is_cut_and_never_the_verdict) {
  Calls calls({.columns = 40});
  calls.approve("a", "shell", run_of({"pytest", "-q", "tests/unit/a_test.py", "-k", "something"}));
  calls.output(
      {.call_id = "a", .tool = "shell", .success = false, .exit = exit_of(Ending::exited, 1)});
  calls.approve("b", "shell", run_of({"make"}),
                decided("deny", "no rule of the policy allows make"));
  calls.output({.call_id = "b", .tool = "shell", .success = false});
  calls.approve("c", "read_file", path_of("日本語の長い名前のファイル.txt"));
  calls.output({.call_id = "c", .tool = "read_file"});

  BOOST_TEST(calls.printed == Lines({"[4] $ pytest -q tests/u… (exit 1, 1.3 s)",
                                     "[4] $ make (denied)", "    no rule of the policy allows make",
                                     "[4] read_file '日本語の長い名前… (1.3 s)"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(colours_are_for_what_is_not_a_plain_success) {
  Calls calls({.colors = true});
  calls.approve("a", "shell", run_of({"x"}));
  calls.output({.call_id = "a", .tool = "shell", .exit = exit_of(Ending::exited, 0)});
  calls.approve("b", "shell", run_of({"x"}));
  calls.output(
      {.call_id = "b", .tool = "shell", .success = false, .exit = exit_of(Ending::exited, 1)});
  calls.approve("c", "shell", run_of({"x"}), decided("deny", "no"));
  calls.output({.call_id = "c", .tool = "shell", .success = false});

  BOOST_TEST(calls.printed == Lines({"\x1b[2m[4] \x1b[0m$ x\x1b[2m (1.3 s)\x1b[0m",
                                     "\x1b[2m[4] \x1b[0m$ x\x1b[31m (exit 1, 1.3 s)\x1b[0m",
                                     "\x1b[2m[4] \x1b[0m$ x\x1b[33m (denied: no)\x1b[0m"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_call_on_which_nothing_was_decided_has_a_line_that_says_why) {
  Calls calls;
  calls.output({.call_id = "a",
                .tool = "read_file",
                .success = false,
                .output = "Invalid arguments for read_file: /limit: wrong type"});
  calls.output({.call_id = "b",
                .tool = "shell",
                .success = false,
                .output = "Not run: the run has ended (stopped by a signal).",
                .verdict = "not_run"});

  BOOST_TEST(
      calls.printed ==
          Lines({"[4] read_file (not run: Invalid arguments for read_file: /limit: wrong type)",
                 "[4] shell (not run: the run has ended (stopped by a signal).)"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_line_says_how_the_call_was_decided_and_how_it_ended) {
  const Json audited =
      Json::object({{"decision", "allow"}, {"audited", true}, {"reason", "no rule"}});
  const Json approved =
      Json::object({{"decision", "allow"}, {"approver", Json::object({{"decision", "allow"}})}});
  const struct {
    const char* name;
    Json decision;
    std::optional<ExitStatus> exit;
    bool success;
    const char* note;
  } rows[] = {
      {"well", decided("allow"), exit_of(Ending::exited, 0), true, "1.3 s"},
      {"badly", decided("allow"), exit_of(Ending::exited, 2), false, "exit 2, 1.3 s"},
      {"with an invalid result", decided("allow"), exit_of(Ending::exited, 0), false,
       "failed, 1.3 s"},
      {"by a signal", decided("allow"), exit_of(Ending::signalled, 9), false, "signal 9, 1.3 s"},
      {"by time", decided("allow"), exit_of(Ending::timed_out, 9), false, "timed out, 1.3 s"},
      {"at a limit", decided("allow"), exit_of(Ending::memory_limit, 9), false,
       "killed, memory limit, 1.3 s"},
      {"audited", audited, {}, true, "audit: no rule, 1.3 s"},
      {"by an approver", approved, {}, true, "approved, 1.3 s"},
      {"forbidden", decided("forbid", "a rule"), {}, false, "forbidden: a rule"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Calls calls;
      calls.approve("a", "shell", run_of({"x", "y"}), row.decision);
      calls.output({.call_id = "a", .tool = "shell", .success = row.success, .exit = row.exit});
      BOOST_TEST(calls.printed == Lines{std::string("[4] $ x y (") + row.note + ")"},
                 boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_under_way_is_the_first_call_and_how_many_are_beside_it) {
  Calls calls;
  BOOST_TEST(calls.lines.under_way() == "");
  calls.approve("a", "read_file", path_of("a"));
  BOOST_TEST(calls.lines.under_way() == "read_file a");
  calls.approve("b", "read_file", path_of("b"));
  BOOST_TEST(calls.lines.under_way() == "read_file a, and 1 more");
  calls.output({.call_id = "a", .tool = "read_file"});
  BOOST_TEST(calls.lines.under_way() == "read_file b");
  calls.output({.call_id = "b", .tool = "read_file"});
  BOOST_TEST(calls.lines.under_way() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test
