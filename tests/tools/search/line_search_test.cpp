#include "tools/search/line_search.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(line_search)

namespace {

/// "BEGIN-END" of each first match in a line; at most `looks` questions are answered with yes.
std::vector<std::string> matches(const std::string& expression, const std::string& text,
                                 std::size_t looks = 1'000'000) {
  std::vector<std::string> found;
  LineSearch(expression)
      .search(
          text,
          [&](const LineMatch& match) {
            found.push_back(std::to_string(match.match_begin) + "-" +
                            std::to_string(match.match_end));
            return true;
          },
          [&] { return looks-- > 0; });
  return found;
}

using Found = std::vector<std::string>;

constexpr std::size_t kLong = 1 << 20;  ///< far more than is looked at in one go

}  // namespace

BOOST_AUTO_TEST_CASE(a_match_is_found_wherever_it_stands_in_a_long_line) {
  for (std::size_t at = 90'000; at < 102'000; at += 7) {
    std::string line(kLong, 'x');
    line.replace(at, 6, "needle");
    BOOST_TEST(
        (matches("n[e]+dle", line) == Found{std::to_string(at) + "-" + std::to_string(at + 6)}));
  }
}

BOOST_AUTO_TEST_CASE(the_borders_of_a_long_line_are_its_own) {
  const std::string line(kLong, 'x');
  const std::string end = std::to_string(kLong);
  BOOST_TEST((matches("x$", line) == Found{std::to_string(kLong - 1) + "-" + end}));
  BOOST_TEST((matches("x\\b", line) == Found{std::to_string(kLong - 1) + "-" + end}));
  BOOST_TEST((matches("^x+$", line) == Found{"0-" + end}));
  BOOST_TEST(matches("y$|z", line).empty());
  BOOST_TEST((matches("^y", line + "\\ny").empty()));
  BOOST_TEST((matches("^y", line + "\ny") ==
              Found{std::to_string(kLong + 1) + "-" + std::to_string(kLong + 2)}));
}

BOOST_AUTO_TEST_CASE(a_search_in_a_long_line_can_be_ended) {
  // An expression for which RE2 keeps hundreds of states, and steps through them byte by byte.
  std::string line;
  for (unsigned i = 0, drawn = 1; i < 64 * kLong; ++i) {
    drawn = drawn * 1103515245 + 12345;
    line += (drawn >> 16 & 1) != 0 ? 'a' : 'b';
  }
  BOOST_TEST(matches("a[ab]{400}c", line, 4).empty());
}

BOOST_AUTO_TEST_CASE(an_expression_of_too_many_states_is_refused) {
  BOOST_CHECK_THROW(LineSearch("((a{100}){100}b){10}"), PatternError);
  BOOST_CHECK_NO_THROW(LineSearch("[^\"]{0,200}x"));
}

BOOST_AUTO_TEST_SUITE_END()
