// Runs in the user's own tree that are killed again and again, and go on.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <random>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/own_tree_run.h"
#include "tests/end_to_end/steady_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(own_tree_resume)

BOOST_AUTO_TEST_CASE(a_run_killed_at_any_instant_ends_with_the_diff_and_tree_of_one_that_was_not) {
  SteadyModel model;
  const auto in_place = [&](const SteadyRun& run) {
    // One that was killed when all was done is returned: begun anew, it would find its own work.
    return run.start(model.url(), {"--isolation", "none", "--reuse", "success"});
  };
  const auto tree_of = [](const SteadyRun& run) {
    return run_program(
               {"sh", "-c",
                "find . -path ./.git -prune -o -printf '%p %y %m %l\n' | sort; find . -path "
                "./.git -prune -o -type f -print | sort | xargs sha256sum"},
               run.workspace())
        .output;
  };
  const SteadyRun whole;
  const auto began = std::chrono::steady_clock::now();
  const ProgramEnd undisturbed = run_program(in_place(whole));
  const auto took = std::chrono::steady_clock::now() - began;
  BOOST_REQUIRE_MESSAGE(undisturbed.status == 0, undisturbed.errors);
  const std::string diff = whole.artifact("changes.diff");
  const std::string tree = tree_of(whole);

  const char* const count = std::getenv("SORTIE_TEST_KILLS");
  const int wanted = count != nullptr ? std::atoi(count) : 6;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0.0, 1.05);
  for (int kills = 0; kills < wanted;) {
    const SteadyRun run;
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 200);
      const auto delay = std::chrono::duration_cast<std::chrono::milliseconds>(
          took * (share(random) * (starts < 3 ? 1.0 : 0.5 + starts / 20.0)));
      ProgramStart start = in_place(run);
      start.shows_events = false;
      Program program(start);
      ::poll(nullptr, 0, static_cast<int>(delay.count()));
      if (kills < wanted) program.signal(SIGKILL);
      const ProgramEnd end = program.finish();
      if (end.status == 137) {
        ++kills;
        continue;
      }
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
      break;
    }
    BOOST_TEST(run.artifact("changes.diff") == diff, "seed " << seed);
    BOOST_TEST(tree_of(run) == tree, "seed " << seed);
    check_record(run.out());
    BOOST_TEST(verify_run(run.out()).ok, verify_run(run.out()).problem);
    BOOST_TEST(!fs::exists(run.out() / "state"));
  }
}

BOOST_AUTO_TEST_CASE(a_copied_out_goes_on_in_another_tree_and_is_undone_there_if_it_fails) {
  for (const bool commits : {true, false}) {
    for (const char* verify : {"true", "false"}) {
      BOOST_TEST_CONTEXT((commits ? "git, " : "no git, ") << verify) {
        const Waiting waiting(std::string(commits ? "71" : "72") + (verify[0] == 't' ? "1" : "2"));
        const auto make = [&](const RunFolder& run) {
          run.write("work/a.txt", "a\n");
          run.write("work/gone.txt", "gone\n");
          run.write("work/folder/in/it.txt", "it\n");
          if (commits) run.commit_workspace();
          run.write("work/untracked.txt", "of the user\n");
          run.write("work/a.txt", "edited before\n");
          run.write_task(
              CassetteWriter()
                  .shell({"sh", "-c",
                          "echo one >> a.txt; rm gone.txt; rm -r folder; echo f > folder; "
                          "ln -s a.txt link; echo mine > untracked.txt"})
                  .next()
                  .shell({"sh", "-c", "echo lost > lost.txt" + waiting.words()})
                  .next()
                  .shell({"sh", "-c", "echo end >> a.txt"})
                  .next()
                  .message("done"),
              std::string("policy: auto\nverify: {commands: ['") + verify + "'], rounds: 0}\n");
        };
        const RunFolder first;
        make(first);
        Program program(first.plain_start(kInPlace));
        BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
        program.signal(SIGKILL);
        program.finish();
        BOOST_REQUIRE(wait_until([&] { return waiting.processes().empty(); }));
        const RunFolder second;
        make(second);
        fs::remove_all(second.workspace() / ".git");
        if (commits)
          fs::copy(first.workspace() / ".git", second.workspace() / ".git",
                   fs::copy_options::recursive);
        const std::string tree =
            "find . -path ./.git -prune -o -printf '%p %y %m %l\n' | sort; "
            "find . -path ./.git -prune -o -type f -print | sort | xargs cat";
        const auto tree_of = [&] {
          return run_program({"sh", "-c", tree}, second.workspace()).output;
        };
        const std::string before = tree_of();
        fs::copy(first.out(), second.out(), fs::copy_options::recursive);

        const ProgramEnd end = run_program(second.plain_start(kInPlace));

        BOOST_TEST(end.status == (verify[0] == 't' ? 0 : 1), end.errors);
        BOOST_TEST(end.errors.find("resumed after record") != std::string::npos, end.errors);
        if (end.status == 1) BOOST_TEST(tree_of() == before);
        if (end.status != 0) continue;
        BOOST_TEST(read_file(second.workspace() / "a.txt") == "edited before\none\nend\n");
        BOOST_TEST(!fs::exists(second.workspace() / "lost.txt"));
        BOOST_TEST(!fs::exists(second.workspace() / "gone.txt"));
        BOOST_TEST(read_file(second.workspace() / "folder") == "f\n");
        BOOST_TEST(second.artifact("changes.diff").find("+one\n+end\n") != std::string::npos);
        BOOST_TEST(verify_run(second.out()).ok);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
