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
  CallLines lines;
  Lines printed;

  explicit Calls(CallLines::Options options = {}) : lines(options, redactor) {}

  void approve(const std::string& id, const std::string& tool, Json actions,
               Json decision = decided("allow")) {
    const RunEvent event = approval_event(4, {id, tool, "{}"}, actions, decision);
    lines.on_approval(std::get<CallDecided>(event.what));
  }
  void output(ToolOutputRecord record) {
    record.duration = std::chrono::milliseconds(1300);
    for (auto& line : lines.on_output(4, record)) printed.push_back(std::move(line));
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
  calls.approve("c", "shell", run_of({"rm", "x"}), decided("deny", "no rule"));
  calls.approve("d", "git_status", Json::array());
  calls.output({.call_id = "a", .tool = "view_image", .output = "PNG"});
  calls.output({.call_id = "b", .tool = "view_image", .success = false, .output = "no image"});
  calls.output({.call_id = "c",
                .tool = "shell",
                .success = false,
                .output = "Denied: no rule",
                .verdict = "denied",
                .declined = "no rule"});
  calls.output({.call_id = "d", .tool = "git_status", .output = "clean"});

  BOOST_TEST(
      calls.printed == Lines({"[4] view_image yes.png: allow, ok, 1.3 s",
                              "[4] view_image no.png: allow, failed, 1.3 s",
                              "[4] shell rm x: deny, no rule", "[4] git_status: allow, ok, 1.3 s"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_output_stands_below_the_line_of_its_call) {
  Calls calls({.outputs = true});
  calls.approve("a", "shell", run_of({"one"}), decided("deny", "no rule"));
  calls.approve("b", "shell", run_of({"two"}));
  calls.output({.call_id = "a", .tool = "shell", .success = false, .output = "Denied"});
  calls.output({.call_id = "b",
                .tool = "shell",
                .exit = exit_of(Ending::exited, 0),
                .output = "first\ns3cr3t-value\n"});

  BOOST_TEST(calls.printed == Lines({"[4] shell one: deny, no rule", "    Denied",
                                     "[4] shell two: allow, exit 0, 1.3 s", "    first",
                                     "    [REDACTED:A_TOKEN]"}),
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
          Lines({"[4] read_file: not run, Invalid arguments for read_file: /limit: wrong type",
                 "[4] shell: not run, the run has ended (stopped by a signal)."}),
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
    const char* line;
  } rows[] = {
      {"well", decided("allow"), exit_of(Ending::exited, 0), true, "allow, exit 0, 1.3 s"},
      {"badly", decided("allow"), exit_of(Ending::exited, 2), false, "allow, exit 2, 1.3 s"},
      {"with a result that is none", decided("allow"), exit_of(Ending::exited, 0), false,
       "allow, exit 0, failed, 1.3 s"},
      {"by a signal", decided("allow"), exit_of(Ending::signalled, 9), false,
       "allow, signal 9, 1.3 s"},
      {"at a limit", decided("allow"), exit_of(Ending::timed_out, 9), false,
       "allow, timed_out, 1.3 s"},
      {"audited", audited, {}, true, "allow (audit: no rule), ok, 1.3 s"},
      {"by an approver", approved, {}, true, "allow (approver), ok, 1.3 s"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Calls calls;
      calls.approve("a", "shell", run_of({"x", "y"}), row.decision);
      calls.output({.call_id = "a", .tool = "shell", .success = row.success, .exit = row.exit});
      BOOST_TEST(calls.printed == Lines{std::string("[4] shell x y: ") + row.line},
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
