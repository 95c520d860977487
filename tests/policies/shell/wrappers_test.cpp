#include "policies/shell/wrappers.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(wrappers)

BOOST_AUTO_TEST_CASE(a_wrapper_shows_the_command_that_it_runs) {
  using Argv = std::vector<std::string>;
  const struct {
    Argv argv;
    Argv inner;  ///< empty: none
  } rows[] = {
      {{"env", "A=1", "B=2", "ls", "-l"}, {"ls", "-l"}},
      {{"env", "-i", "-u", "X", "-C", "/", "ls"}, {"ls"}},
      {{"env", "-uX", "--unset=Y", "--chdir", "/", "ls"}, {"ls"}},
      {{"env", "-", "ls"}, {"ls"}},
      {{"env"}, {}},
      {{"timeout", "5", "ls"}, {"ls"}},
      {{"timeout", "-s", "KILL", "--kill-after=1", "5", "ls"}, {"ls"}},
      {{"nice", "ls"}, {"ls"}},
      {{"nice", "-n", "3", "ls"}, {"ls"}},
      {{"nice", "-n3", "ls"}, {"ls"}},
      {{"nohup", "ls"}, {"ls"}},
      {{"time", "-p", "ls"}, {"ls"}},
      {{"xargs", "-0", "-I", "{}", "-n1", "rm", "{}"}, {"rm", "{}"}},
      {{"command", "-p", "ls"}, {"ls"}},
      {{"stdbuf", "-o", "L", "ls"}, {"ls"}},
      {{"setsid", "--wait", "ls"}, {"ls"}},
      {{"ionice", "-c", "3", "ls"}, {"ls"}},
      {{"chroot", "--userspec=a", "/x", "ls"}, {"ls"}},
      {{"sudo", "-u", "root", "A=1", "-E", "ls"}, {"ls"}},
      {{"busybox", "rm", "x"}, {"rm", "x"}},
      {{"find", ".", "-exec", "rm", "{}", ";", "-print"}, {"rm", "{}"}},
      {{"/usr/bin/env", "--", "ls"}, {"ls"}},
      {{"ls", "env", "rm"}, {}},
  };
  for (const auto& row : rows) {
    const auto found = unwrap(row.argv);
    BOOST_TEST_CONTEXT(row.argv.front() << " of " << row.argv.size() << " words") {
      BOOST_TEST((found.empty() ? Argv{} : found.front().argv) == row.inner,
                 boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_shells_script_is_found_behind_its_options) {
  const struct {
    std::vector<std::string> argv;
    std::optional<std::string> script;
    std::string file;
  } rows[] = {
      {{"sh", "-c", "S"}, "S", ""},
      {{"bash", "-lc", "S", "a"}, "S", ""},
      {{"bash", "+c", "S"}, "S", ""},
      {{"dash", "+xc", "S"}, "S", ""},
      {{"bash", "-c", "-e", "S"}, "S", ""},
      {{"bash", "-euo", "pipefail", "-c", "S"}, "S", ""},
      {{"bash", "--noprofile", "--rcfile", "x", "-c", "--", "S"}, "S", ""},
      {{"bash", "x.sh", "-c", "S"}, std::nullopt, "x.sh"},
      {{"bash", "-x", "x.sh"}, std::nullopt, "x.sh"},
      {{"bash", "-o", "pipefail", "x.sh"}, std::nullopt, "x.sh"},
      {{"bash"}, std::nullopt, ""},
      {{"fish", "--command=S"}, "S", ""},
  };
  for (const auto& row : rows) {
    const ShellCall call = read_shell_call(row.argv);
    BOOST_TEST_CONTEXT(row.argv.front() << " of " << row.argv.size() << " words") {
      BOOST_TEST((call.script == row.script));
      BOOST_TEST(call.file == row.file);
    }
  }
  for (const char* shell : {"sh", "bash", "dash", "zsh", "/bin/sh", "./bash", "-bash"}) {
    BOOST_TEST(is_shell(shell));
  }
  BOOST_TEST(!is_shell("bashful"));
}

BOOST_AUTO_TEST_SUITE_END()
