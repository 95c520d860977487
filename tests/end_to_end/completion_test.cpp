#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/own_variable.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool is_installed(const std::string& shell) {
  const std::string path = own_variable("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t colon = std::min(path.find(':', at), path.size());
    if (::access((path.substr(at, colon - at) + "/" + shell).c_str(), X_OK) == 0) return true;
    at = colon + 1;
  }
  return false;
}

boost::test_tools::assertion_result zsh_is_installed(boost::unit_test::test_unit_id) {
  return is_installed("zsh");
}

boost::test_tools::assertion_result fish_is_installed(boost::unit_test::test_unit_id) {
  return is_installed("fish");
}

/// Loads a completion and completes the last of the words that follow, which is printed with what
/// the shell is asked to add by itself.
constexpr const char* kBash = R"(set -eu
source "$1"
shift
compopt() { printf 'compopt %s\n' "$*"; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_sortie
if ((${#COMPREPLY[@]})); then printf '%s\n' "${COMPREPLY[@]}"; fi
)";

constexpr const char* kZsh = R"(
compdef() { : }
source $1
shift
compadd() { print -l -- ${(P)2} }
_describe() { print -l -- ${(P)2} }
_files() { print -- files $* }
compset() { : }
words=("$@") CURRENT=$#
_sortie || true
)";

/// A folder with a completion, a driver for it, and files to complete.
class Completed {
 public:
  Completed(const std::string& shell, const std::string& driver) : shell_(shell) {
    const ProgramEnd made = run_command_in(folder_, {"completion", shell});
    BOOST_REQUIRE_MESSAGE(made.status == 0, made.errors);
    folder_.write("completion", made.output);
    folder_.write("driver", driver);
    folder_.write("work/task.yaml", "");
    folder_.write("work/runs/a", "");
  }

  /// @param words  of a command line, the program's name first; the last one is completed
  std::string of(const Arguments& words) const {
    Arguments arguments = {folder_.path("driver").string(), folder_.path("completion").string()};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return run(arguments);
  }

  /// @param line  as it is typed, for fish, which has a command for it
  std::string of_line(const std::string& line) const {
    return run({"-N", "-c", "source ../completion; complete -C '" + line + "'"});
  }

 private:
  std::string run(const Arguments& arguments) const {
    ProgramStart start = start_command(folder_, {});
    start.argv = {shell_};
    if (shell_ == "zsh") start.argv.push_back("-f");
    start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
    start.environment["HOME"] = folder_.path("home").string();
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(end.errors == "");
    return end.output;
  }

  RunFolder folder_;
  std::string shell_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(completion)

BOOST_AUTO_TEST_CASE(bash_completes_commands_flags_values_and_files) {
  const Completed bash("bash", kBash);
  const struct {
    Arguments words;
    const char* completed;
  } rows[] = {
      {{"pol"}, "policy\n"},
      {{"policy", "l"}, "learn\n"},
      {{"-"}, "--help\n-h\n--version\n-V\n"},
      {{"run", "--pol"}, "--policy\n"},
      {{"run", "--policy", "rev"}, "compopt -o filenames\ncompopt -o default\nreview\n"},
      // readline cuts words at '='.
      {{"run", "--isolation", "=", "o"}, "overlay\n"},
      {{"run", "--isolation", "="}, "auto\noverlay\ncopy\nnone\n"},
      {{"run", "--isolation=o"}, "--isolation=overlay\n"},
      {{"run", "--approval", "full"}, "full-auto\n"},
      {{"run", "--provider", "anth"}, "anthropic\n"},
      {{"run", "--reuse", "a"}, "any\n"},
      {{"run", "--color", "n"}, "never\n"},
      {{"run", "--max-turns", ""}, ""},
      {{"run", "--json", "t"}, "compopt -o default\n"},
      {{"run", "-C", "r"}, "compopt -o dirnames\n"},
      {{"run", "--out", "policy", "--js"}, "--json\n"},
      {{"run", "task.yaml", "x"}, ""},
      {{"policy", "learn", "a", "b", ""}, "compopt -o default\n"},
      {{"schema", "task"}, "task\n"},
      {{"schema", "approver-r"}, "approver-request\n"},
      {{"sandbox", "--mode", "r"}, "read-only\n"},
      {{"sandbox", "--", "make", "x"}, "compopt -o bashdefault -o default\n"},
      {{"e"}, "exec\n"},
      {{"e", "--output-s"}, "--output-schema\n"},
      {{"e", "res"}, "resume\n"},
      {{"e", "resume", "--la"}, "--last\n"},
      {{"completion", ""}, "bash\nzsh\nfish\n"},
  };
  for (const auto& row : rows) {
    Arguments words = {"sortie"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    BOOST_TEST_CONTEXT(row.words.front() << " … " << row.words.back()) {
      BOOST_TEST(bash.of(words) == row.completed);
    }
  }
  BOOST_TEST(holds(bash.of({"sortie", "sandbox", "--", "bas"}), "\nbash\n"));
}

BOOST_AUTO_TEST_CASE(zsh_completes_commands_flags_values_and_files,
                     *boost::unit_test::precondition(zsh_is_installed)) {
  const Completed zsh("zsh", kZsh);

  BOOST_TEST(holds(zsh.of({"sortie", ""}), "doctor:Show"));
  BOOST_TEST(holds(zsh.of({"sortie", "policy", ""}), "learn:Print"));
  BOOST_TEST(holds(zsh.of({"sortie", "run", "--"}), "\n--policy:policy file"));
  BOOST_TEST(zsh.of({"sortie", "run", "--isolation", ""}) == "auto\noverlay\ncopy\nnone\n");
  BOOST_TEST(zsh.of({"sortie", "run", "--isolation="}) == "auto\noverlay\ncopy\nnone\n");
  BOOST_TEST(holds(zsh.of({"sortie", "run", "--policy", ""}), "strict\n"));
  BOOST_TEST(holds(zsh.of({"sortie", "run", "--policy", ""}), "\nfiles"));
  BOOST_TEST(zsh.of({"sortie", "run", ""}) == "files\n");
  BOOST_TEST(zsh.of({"sortie", "run", "-C", ""}) == "files -/\n");
  BOOST_TEST(zsh.of({"sortie", "run", "task.yaml", ""}) == "");
  BOOST_TEST(holds(zsh.of({"sortie", "e", "--"}), "\n--output-schema:"));
}

BOOST_AUTO_TEST_CASE(fish_completes_commands_flags_values_and_files,
                     *boost::unit_test::precondition(fish_is_installed)) {
  const Completed fish("fish", "");

  BOOST_TEST(holds(fish.of_line("sortie pol"), "policy\t"));
  BOOST_TEST(holds(fish.of_line("sortie policy l"), "learn\tPrint"));
  BOOST_TEST(!holds(fish.of_line("sortie policy "), "doctor"));
  BOOST_TEST(holds(fish.of_line("sortie run --pol"), "--policy\tpolicy file"));
  BOOST_TEST(holds(fish.of_line("sortie run --isolation ov"), "overlay\t"));
  BOOST_TEST(holds(fish.of_line("sortie run --policy rev"), "review\t"));
  BOOST_TEST(holds(fish.of_line("sortie run ta"), "task.yaml"));
  BOOST_TEST(!holds(fish.of_line("sortie run -C "), "task.yaml"));
  BOOST_TEST(holds(fish.of_line("sortie run -C r"), "runs/"));
  BOOST_TEST(fish.of_line("sortie run --max-turns ") == "");
  BOOST_TEST(holds(fish.of_line("sortie e --output-s"), "--output-schema\t"));
}

BOOST_AUTO_TEST_CASE(an_unknown_shell_is_refused_with_those_that_are_known) {
  const RunFolder folder;

  const ProgramEnd end = run_command_in(folder, {"completion", "tcsh"});

  BOOST_TEST(end.status == 2);
  BOOST_TEST(holds(end.errors, "bash"), end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
