#include "policies/engine/typed_input.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {
namespace {

using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(typed_input)

BOOST_AUTO_TEST_CASE(what_is_no_whole_line_belongs_to_what_follows) {
  const struct {
    std::string_view typed;
    std::string_view unfinished;
  } rows[] = {
      {"", ""},
      {"ls\n", ""},
      {"ls\r", ""},
      {"ls\ngit pu", "git pu"},
      {"git pu\x04", "git pu\x04"},
      {"git pu\x03", "git pu\x03"},
      {"ls\ngit \\\n", "git \\\n"},
      {"ls\ngit \\\n-C \\\nx", "git \\\n-C \\\nx"},
      {"git \\\nstatus\n", ""},
      {"echo \\\\\n", ""},
      {"echo \\\\\\\n", "echo \\\\\\\n"},
      {"git \\x\b\n", "git \\x\b\n"},    // erased by a terminal
      {"git \\\x04\n", "git \\\x04\n"},  // handed over, the newline alone behind it
      {"git \\\x0f\n", "git \\\x0f\n"},
  };
  for (const auto& row : rows) BOOST_TEST(unfinished_input(row.typed) == row.unfinished, row.typed);
}

BOOST_AUTO_TEST_CASE(each_way_to_read_what_was_typed_is_among_the_readings) {
  const struct {
    std::string_view typed;
    std::vector<std::string> possible;
  } rows[] = {
      {"git push\n", {"git push\n"}},
      {"git pusx\bh\n", {"git pusxh\n", "git push\n"}},
      {"x\x15git push\n", {"xgit push\n", "git push\n"}},
      {"git x y\x17z\n", {"git x yz\n", "git x z\n"}},
      {"x\x03git push\n", {"xgit push\n", "git push\n"}},
      {"git pu\x04sh\n", {"git push\n", "git pu\nsh\n"}},
      {"\x04git push\n", {"git push\n"}},
      {"a\tb\n", {"a b\n", "a\tb\n"}},
  };
  for (const auto& row : rows)
    BOOST_CHECK_MESSAGE(read_typed(row.typed).possible == row.possible, row.typed);
}

BOOST_AUTO_TEST_CASE(what_the_readings_do_not_know_is_named) {
  const struct {
    std::string typed;
    std::string_view problem;  ///< its beginning
  } rows[] = {
      {"git push\n", ""},
      {"git pusx\bh\n", ""},
      {"x\x15ls\n", ""},
      {"git pu\x03ls\n", ""},
      {"echo x\x04\n", ""},
      {"\x03\x04\x1cls\n", ""},
      {"ush\x01git p\n", "control-A can't be checked"},
      {"x\x19\n", "control-Y can't be checked"},
      {"git x;y\x17\n", "control-W can't be checked"},
      {"git pu\x16\b\b\bsh\n", "control-V can't be checked"},
      {"git pu\x1csh\n", "control-\\ can't be checked"},
      {"git \x1b[Dx\n", "the escape character"},
      {std::string("ls\0x\n", 5), "control-@ can't be checked"},
      {"git pu\x04\b\bsh\n", "control-C or control-D within a line"},
      {"x\x04git pu\x04sh\n", "control-C or control-D within a line"},
      {"x\x15git pu\x03sh\n", "control-C or control-D within a line"},
      {"ls\nstty erase x\n", "stty, which may"},
      {"echo fcx bindings\n", ""},
      {"git " + std::string(kLongestTypedLine, ' '), "a line of more than 64 KiB"},
      {std::string(kLongestTypedLine, ' ') + "\n", ""},
  };
  for (const auto& row : rows) {
    const std::string problem = read_typed(row.typed).problem;
    BOOST_TEST(problem.starts_with(row.problem), row.typed.substr(0, 40) << ": " << problem);
    BOOST_TEST(problem.empty() == row.problem.empty(), row.typed.substr(0, 40) << ": " << problem);
  }
}

BOOST_AUTO_TEST_CASE(keys_of_an_editor_of_lines_are_marked_for_a_terminal) {
  const struct {
    std::string_view typed;
    std::string_view marked;
  } rows[] = {
      {"ls -l | grep ^x\n", "ls -l | grep ^x\n"},
      {"git \tx", "git \x1b\tx"},
      {"\xc3\xa9", "\x1b\xc3\x1b\xa9"},
      {"!!\n", "\x1b!!\n"},
      {"! grep x && [ a != b ]\n", "! grep x && [ a != b ]\n"},
      {"git pusX\n^X^h\n", "git pusX\n\x1b^X^h\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST(with_editor_keys_marked(row.typed) == row.marked);
    BOOST_TEST(read_typed(row.marked).problem.empty() == (row.typed == row.marked));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie
