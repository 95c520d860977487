#include "policies/shell/conservative_words.h"

#include <boost/test/unit_test.hpp>
#include <vector>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(git_calls)

BOOST_AUTO_TEST_CASE(git_is_found_by_any_path_and_in_shell_strings) {
  const struct {
    std::vector<std::string> argv;
    bool expected;
  } rows[] = {
      {{"git", "status"}, true},
      {{"/usr/bin/git", "status"}, true},
      {{"bash", "-lc", "git status"}, true},
      {{"bash", "--noprofile", "--norc", "-c", "ls && git diff | cat"}, true},
      {{"sh", "-c", "ls; /usr/bin/git log"}, true},
      {{"bash", "-c", "ls | cat"}, false},
      {{"bash", "-c", "cat git.txt"}, false},
      {{"cargo", "test"}, false},
      {{"cat", "git"}, false},
      {{}, false},
  };
  for (const auto& row : rows) {
    std::string shown;
    for (const std::string& word : row.argv) shown += word + ' ';
    BOOST_TEST(may_run_git(row.argv) == row.expected, shown);
  }
}

BOOST_AUTO_TEST_SUITE_END()
