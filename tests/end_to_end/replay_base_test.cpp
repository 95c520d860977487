// `sortie replay` on a workspace that is not as it was when the run began.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

ProgramEnd replay(const RunFolder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> argv = {sortie_binary(), "replay", "out"};
  argv.insert(argv.end(), more.begin(), more.end());
  return run_program({.argv = argv, .folder = folder.path("")});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run that leaves an ignored file and a patch, which is applied afterwards.
void write_run(const RunFolder& folder) {
  folder.write("work/a.txt", "one\n");
  folder.write("work/.gitignore", "*.o\n");
  folder.write_task(
      CassetteWriter()
          .patch("*** Begin Patch\n*** Update File: a.txt\n-one\n+two\n*** End Patch\n")
          .shell({"sh", "-c", "echo built > a.o"})
          .next()
          .message("done"),
      "policy: auto\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replay_base)

BOOST_AUTO_TEST_CASE(a_difference_that_may_come_from_the_workspace_says_how_to_replay_without_it) {
  const RunFolder folder;
  write_run(folder);
  folder.commit_workspace();
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  folder.write("work/a.o", "built by hand\n");

  const ProgramEnd built = replay(folder);

  BOOST_TEST(built.status == 8, built.errors);
  const std::string commit = folder.result().string_at("head_commit");
  BOOST_REQUIRE(!commit.empty());
  BOOST_TEST(holds(built.errors,
                   "as it is now, with uncommitted and ignored files; to leave them "
                   "out: git worktree add DIR " +
                       commit + ", and sortie replay out -C DIR\n"),
             built.errors);

  // As it says.
  const std::string tree = folder.path("tree").string();
  const ProgramEnd made = run_program(
      {.argv = {"git", "-C", folder.workspace().string(), "worktree", "add", tree, commit}});
  BOOST_REQUIRE_MESSAGE(made.status == 0, made.errors);
  const ProgramEnd clean = replay(folder, {"-C", tree});
  BOOST_TEST(clean.status == 0, clean.errors);
  BOOST_TEST(!holds(clean.errors, "as it is now"), clean.errors);
}

BOOST_AUTO_TEST_CASE(without_commits_a_difference_names_the_workspace) {
  const RunFolder folder;
  write_run(folder);
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  folder.write("work/a.txt", "two\n");

  const ProgramEnd applied = replay(folder);

  BOOST_TEST(applied.status == 8, applied.errors);
  BOOST_TEST(holds(applied.errors, "as it is now, which may not be as it was when the run began\n"),
             applied.errors);
}

BOOST_AUTO_TEST_SUITE_END()
