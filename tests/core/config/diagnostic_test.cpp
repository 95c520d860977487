#include "core/config/diagnostic.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(diagnostic)

BOOST_AUTO_TEST_CASE(a_finding_shows_its_line_and_underlines_its_place) {
  Diagnostics findings;
  std::string text(11, '\n');
  text += "  verifi:\n";
  findings.add_source("task.yaml", text);

  findings.error({.line = 12, .column = 3, .length = 6}, "unknown key 'verifi' in task", "verify");

  BOOST_TEST(findings.render() ==
             "task.yaml:12:3: error: unknown key 'verifi' in task; did you mean 'verify'?\n"
             "   12 |   verifi:\n"
             "      |   ^~~~~~");
}

BOOST_AUTO_TEST_CASE(findings_come_in_the_order_of_the_text_with_their_notes) {
  Diagnostics findings;
  findings.add_source("a.yaml", "one\ntwo\nthree");
  findings.add_source("b.yaml", "");

  findings.error({.source = 1}, "whole file");
  findings.add({.place = {.line = 3, .column = 1, .length = 5},
                .message = "last",
                .notes = {{.place = {.line = 1, .column = 1, .length = 3},
                           .severity = Severity::note,
                           .message = "first"}}});
  findings.error({.line = 2, .column = 2, .length = 99}, "middle");

  BOOST_TEST(findings.render() ==
             "a.yaml:2:2: error: middle\n"
             "    2 | two\n"
             "      |  ^~\n"
             "a.yaml:3:1: error: last\n"
             "    3 | three\n"
             "      | ^~~~~\n"
             "a.yaml:1:1: note: first\n"
             "    1 | one\n"
             "      | ^~~\n"
             "b.yaml: error: whole file");
}

BOOST_AUTO_TEST_CASE(columns_count_characters_and_control_bytes_do_not_reach_the_terminal) {
  Diagnostics findings;
  const std::string text = "\xEF\xBB\xBF\xC3\xA9\xC3\xA9: \x1b[31m\tx\r\n";
  findings.add_source("t", text.substr(3));

  findings.error(place_at(text.substr(3), 0, text.find('x') - 3), "here");

  BOOST_TEST(findings.render() ==
             "t:1:11: error: here\n"
             "    1 | \xC3\xA9\xC3\xA9:  [31m x\n"
             "      |           ^");
}

BOOST_AUTO_TEST_CASE(a_long_line_is_shown_around_the_place) {
  Diagnostics findings;
  const std::string text = std::string(5000, 'a') + "X" + std::string(5000, 'b');
  findings.add_source("t", text);

  findings.error(place_at(text, 0, 5000), "here");

  BOOST_TEST(findings.render() == "t:1:5001: error: here\n    1 | …" + std::string(60, 'a') + "X" +
                                      std::string(59, 'b') + "…\n      | " + std::string(61, ' ') +
                                      "^");
}

BOOST_AUTO_TEST_CASE(a_flood_is_cut_and_counted) {
  Diagnostics findings;
  findings.add_source("t", "");
  for (int i = 0; i < 250; ++i) findings.error({}, "no");

  BOOST_TEST(findings.render().ends_with("t: error: no\nand 50 more findings"));
}

BOOST_AUTO_TEST_CASE(it_throws_all_at_once_or_nothing) {
  Diagnostics findings;
  findings.add_source("t", "");
  BOOST_CHECK_NO_THROW(findings.throw_if_any());

  findings.error({}, "one");
  findings.error({}, "two");

  BOOST_CHECK_EXCEPTION(findings.throw_if_any(), InputError, [](const InputError& error) {
    return std::string(error.what()) == "t: error: one\nt: error: two" &&
           error.code() == ExitCode::usage;
  });
}

BOOST_AUTO_TEST_SUITE_END()
