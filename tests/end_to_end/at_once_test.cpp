// Programs of the same user that are at work at the same time.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <list>
#include <string>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

ProgramStart patch_of(const RunFolder& folder, const std::string& text) {
  return {.argv = {sortie_binary(), "apply-patch"},
          .folder = folder.workspace(),
          .input = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+a\n+" + text +
                   "\n*** End Patch\n"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(at_once)

BOOST_AUTO_TEST_CASE(patches_of_one_folder_wait_for_each_other) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  const Fd other(::open(folder.workspace().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  BOOST_REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  std::list<Program> programs;
  for (int i = 0; i < 12; ++i) programs.emplace_back(patch_of(folder, "l" + std::to_string(i)));
  BOOST_TEST(read_file(folder.path("work/a.txt")) == "a\n");

  BOOST_REQUIRE(::flock(other.get(), LOCK_UN) == 0);
  for (Program& program : programs) {
    const ProgramEnd end = program.finish();
    BOOST_TEST(end.status == 0, end.errors);
  }

  const std::string after = read_file(folder.path("work/a.txt"));
  for (int i = 0; i < 12; ++i)
    BOOST_TEST(after.find("l" + std::to_string(i) + "\n") != std::string::npos, after);
}

BOOST_AUTO_TEST_CASE(of_runs_on_one_out_one_works_and_the_others_are_busy) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b"}).next().message("done"),
                    "policy: auto\n");
  std::list<Program> programs;
  for (int i = 0; i < 4; ++i) programs.emplace_back(folder.plain_start({"--fresh"}));
  int successes = 0;
  for (Program& program : programs) {
    const ProgramEnd end = program.finish();
    BOOST_TEST((end.status == 0 || end.status == 12), end.errors);
    successes += end.status == 0 ? 1 : 0;
  }
  BOOST_TEST(successes >= 1);
  const VerifyResult verified = verify_run(folder.out());
  BOOST_TEST(verified.ok, verified.problem);
  BOOST_TEST(folder.artifact("changes.diff").find("+++ b/b\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(runs_of_one_workspace_and_a_patch_beside_them_lose_nothing) {
  for (const char* isolation : {"overlay", "copy"}) {
    BOOST_TEST_CONTEXT(isolation) {
      const RunFolder folder;
      const std::string marker = "31557600." + std::to_string(::getpid()) + "7";
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      folder.write_task(CassetteWriter()
                            .shell({"sh", "-c", "echo b > b; echo more >> a.txt; sleep " + marker})
                            .next()
                            .message("done"),
                        "policy: auto\n");
      Program one(folder.plain_start({"--isolation", isolation}));
      const std::string command = "sleep" + std::string(1, '\0') + marker;
      BOOST_REQUIRE(wait_until([&] { return !processes_with(command).empty(); }));

      const ProgramEnd patched = run_program(patch_of(folder, "mine"));
      one.signal(SIGTERM);
      const ProgramEnd end = one.finish();

      BOOST_TEST(patched.status == 0, patched.errors);
      BOOST_TEST(end.status == 143, end.errors);
      BOOST_TEST(read_file(folder.path("work/a.txt")) == "a\nmine\n");
      BOOST_TEST(folder.result()["conflicts"].items().size() == 1u);
      BOOST_TEST(fs::exists(folder.out() / "kept/a.txt"));
      BOOST_TEST(folder.artifact("partial.diff").find("+++ b/b\n") != std::string::npos);
      BOOST_TEST(!fs::exists(folder.path("work/b")));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
