// Runs in --out that came with a folder, and were not made there.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool told(const ProgramEnd& end, const std::string& part) {
  return end.errors.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(brought_run)

BOOST_AUTO_TEST_CASE(a_run_that_came_with_its_workspace_is_not_believed) {
  const struct {
    const char* what;
    const char* out;
    bool commit;  ///< the folder brings its .git too, so that the run key can be known
    bool killed;
    bool brought;  ///< unpacked from elsewhere, with the run in it
    bool believed;
    bool attempt =
        false;  ///< with an empty folder of an attempt, whose transcript is not asked for
  } rows[] = {
      {"inside, made here", "work/out", true, false, false, true},
      {"inside, made here, without git", "work/out", false, false, false, true},
      {"a planted success", "work/out", true, false, true, false},
      {"a planted success with an attempt's folder", "work/out", true, false, true, false, true},
      {"a planted success without git", "work/out", false, false, true, false},
      {"a planted run that goes on", "work/out", true, true, true, false},
      {"elsewhere, brought by the user", "out", true, false, true, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      const RunFolder run;
      run.write("work/a.txt", "a\n");
      run.write("work/sub/b.txt", "b\n");
      if (row.commit) run.commit_workspace();
      run.write_task(CassetteWriter()
                         .shell({"sh", "-c",
                                 row.killed ? "echo one >> a.txt; touch here; exec sleep 1000"
                                            : "echo one >> a.txt"})
                         .next()
                         .message("done"),
                     "policy: auto\n");
      const fs::path out = run.path(row.out);
      ProgramStart start = run.plain_start({"--out", out.string(), "--reuse", "success"});
      if (row.killed) {
        Program program(start);
        BOOST_REQUIRE(wait_until([&] {
          std::error_code error;
          return fs::exists(out / "state/upper/here", error) ||
                 fs::exists(out / "state/tree/here", error);
        }));
        program.signal(SIGKILL);
        program.finish();
      } else {
        BOOST_TEST_REQUIRE(run_program(start).status == 0);
      }
      if (row.brought) {
        // As an archive is unpacked: all that a file can say of itself is kept.
        const std::string all =
            "cd '" + run.path("").string() +
            "' && tar -cf all.tar work out* 2>/dev/null; rm -rf work out && tar -xpf all.tar";
        BOOST_REQUIRE(std::system(all.c_str()) == 0);
      }
      if (row.attempt) fs::create_directory(out / "attempt-1");
      if (row.killed)
        run.write_task(CassetteWriter().message("done"), "policy: auto\nexpect: {changes: any}\n");

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(told(end, "(cached)") == row.believed, end.errors);
      BOOST_TEST(told(end, "is not believed") == !row.believed, end.errors);
      BOOST_TEST(!told(end, "resumed after"), end.errors);
      BOOST_TEST(fs::exists(out.string() + ".prev") == !row.believed);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_planted_state_puts_nothing_back) {
  const RunFolder run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  run.write("task.yaml",
            "version: 1\nprompt: Do it.\npolicy: auto\nworkspace: {path: work, isolation: none}\n"
            "model: {provider: replay, cassette: cassette.jsonl}\n");
  CassetteWriter()
      .shell({"sh", "-c", "echo mine > a.txt; touch here; exec sleep 1000"})
      .next()
      .message("done")
      .save(run.path("cassette.jsonl"));
  {
    Program program(run.plain_start());
    BOOST_REQUIRE(wait_until([&] { return fs::exists(run.path("work/here")); }));
    program.signal(SIGKILL);
    program.finish();
  }
  run.write("work/a.txt", "of the victim\n");
  const std::string copy = "cp -a '" + run.out().string() + "' '" + run.path("copy").string() + "'";
  BOOST_REQUIRE(std::system(copy.c_str()) == 0);

  const ProgramEnd end = run_program(
      run.plain_start({"--out", run.path("copy").string(), "--fresh", "--max-turns", "0"}));

  BOOST_TEST(read_file(run.path("work/a.txt")) == "of the victim\n", end.errors);
  BOOST_TEST(fs::exists(run.path("work/here")));
}

BOOST_AUTO_TEST_SUITE_END()
