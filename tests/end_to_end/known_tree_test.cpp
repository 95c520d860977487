// Whether a finished run is returned: only while its tree is known to be at its start or end.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

struct AppliedRun : RunFolder {
  explicit AppliedRun(const std::string& script, bool git = false) {
    write("work/dir/a.txt", "a\n");
    write("work/dir/b.txt", "b\n");
    write("work/gone/x.txt", "x\n");
    write("work/emptied/in/y.txt", "y\n");
    write("work/other/o.txt", "o\n");
    write("work/top.txt", "top\n");
    fs::create_directory(workspace() / "nothing");
    if (git) commit_workspace();
    write_task(CassetteWriter().shell({"sh", "-c", script}).next().message("done"),
               "policy: auto\n");
    const ProgramEnd end = run();
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    first = result().string_at("run_id");
  }
  void in_workspace(const std::string& line) const {
    BOOST_REQUIRE(std::system(("cd '" + workspace().string() + "' && " + line).c_str()) == 0);
  }
  void apply() const { in_workspace("git apply ../out/changes.diff"); }
  /// Whether the same command returns the run.
  bool is_returned() const {
    run_program(plain_start({"--reuse", "success"}));  // where the script runs again, it may fail
    return result().string_at("run_id") == first;
  }

  std::string first;
};

constexpr const char* kScript =
    "echo two >> dir/a.txt; mkdir -p new/er; echo n > new/er/n.txt; rm -r gone emptied; "
    "mv top.txt renamed.txt";

}  // namespace

BOOST_AUTO_TEST_SUITE(known_tree)

BOOST_AUTO_TEST_CASE(a_file_that_was_removed_beside_an_applied_diff_makes_the_tree_unknown) {
  const char* const rows[] = {"rm dir/b.txt",    "rm other/o.txt",  "rmdir nothing",
                              "rm -r other",     "mkdir new/empty", "mv other/o.txt dir/",
                              "touch dir/c.txt", "mkfifo dir/pipe", "mv dir/b.txt dir/a.bak"};
  for (const char* row : rows) {
    BOOST_TEST_CONTEXT(row) {
      const AppliedRun run(kScript);
      run.apply();
      BOOST_TEST(run.is_returned());

      run.in_workspace(row);

      BOOST_TEST(!run.is_returned());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_was_not_as_in_the_commit_and_was_put_back_makes_the_tree_unknown) {
  const RunFolder run;
  run.write("work/a.txt", "one\n");
  run.commit_workspace();
  run.write("work/a.txt", "one\nmine\n");
  run.write_task(CassetteWriter().shell({"sh", "-c", "echo two >> a.txt"}).next().message("done"),
                 "policy: auto\n");
  BOOST_REQUIRE(run.run().status == 0);
  const std::string first = run.result().string_at("run_id");
  const auto again = [&] {
    const ProgramEnd end = run_program(run.plain_start({"--reuse", "success"}));
    BOOST_TEST(end.status == 0, end.errors);
    return run.result().string_at("run_id");
  };
  BOOST_TEST(again() == first);

  BOOST_REQUIRE(
      std::system(("git -C '" + run.workspace().string() + "' checkout -q a.txt").c_str()) == 0);

  BOOST_TEST(again() != first);
  BOOST_TEST(run.artifact("changes.diff").find("mine") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_change_beside_very_many_of_an_applied_diff_is_seen) {
  for (const bool git : {false, true}) {
    BOOST_TEST_CONTEXT(git) {
      const AppliedRun run(
          "mkdir many; i=0; while [ $i -lt 1100 ]; do echo $i > many/$i; i=$((i+1)); done", git);
      run.apply();
      BOOST_TEST(run.is_returned());

      run.in_workspace("echo changed > zz.txt");

      BOOST_TEST(!run.is_returned());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
