// Runs that are killed at any instant, again and again, until they end.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/run_history.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/best_of_run.h"
#include "tests/end_to_end/steady_run.h"
#include "tests/end_to_end/submodules_run.h"
#include "tests/end_to_end/sweep.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// What a kill cut off, by what it left.
std::string phase_of(const fs::path& out, const fs::path& workspace) {
  std::error_code error;
  if (fs::exists(workspace / ".sortie-apply", error)) return "applying";
  if (beginning_of(out / "transcript.jsonl") != Beginning::record)
    return fs::exists(out / "attempt-1", error) ? "attempts at work" : "before the record";
  const RunHistory history = read_run_history(out / "transcript.jsonl");
  if (history.end) return "behind the record's end";
  if (fs::exists(out / "changes.diff", error)) return "writing artifacts";
  return history.starts.size() > 1 ? "at work, resumed" : "at work";
}

/// Runs it once, and measures it.
Pace pace_of(const ProgramStart& start, const fs::path& out) {
  const auto began = std::chrono::steady_clock::now();
  auto end_began = began;
  Program program(start);
  BOOST_REQUIRE(wait_until([&] {
    std::error_code error;
    return fs::exists(out / "changes.diff", error);
  }));
  end_began = std::chrono::steady_clock::now();
  const ProgramEnd end = program.finish();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const auto now = std::chrono::steady_clock::now();
  return {.whole = now - began, .end = now - end_began};
}

void check_verifies(const fs::path& folder) {
  const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", folder.string()}});
  BOOST_TEST(end.status == 0, end.errors << end.output);
}

std::map<std::string, std::string> tree_of(const fs::path& workspace) {
  std::map<std::string, std::string> tree = read_tree(workspace);
  std::erase_if(tree, [](const auto& entry) { return entry.first.starts_with(".git/"); });
  return tree;
}

/// It changes files with uncommitted changes, and removes one that git does not know.
struct ApplyingRun : SteadyRun {
  ApplyingRun() {
    git(workspace(), {"rm", "-q", "--cached", "old6.txt"});
    git(workspace(),
        {"-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "without it"});
    write("work/a.txt", read_file(workspace() / "a.txt") + "mine\n");
    write("work/old2.txt", "mine\n");
  }
  ProgramStart applying(const std::string& url) const {
    ProgramStart begin = start(url, {"--apply", "--reuse", "success"});
    begin.shows_events = false;
    return begin;
  }
};

struct AttemptsRun : SteadyRun {
  explicit AttemptsRun(const std::string& pick) {
    write_task("",
               "verify: {commands: ['test -f repaired.txt'], rounds: 2}\n"
               "best_of: {count: 3, parallel: 2, pick: " +
                   pick + "}\n");
  }
  ProgramStart starting(const std::string& url, const std::vector<std::string>& flags) const {
    ProgramStart begin = start(url, flags);
    begin.shows_events = false;
    return begin;
  }
};

/// Ends runs by a signal at many instants, each run until it has ended well.
void check_stops(int signal, const std::function<Instant(Sweep&)>& next_instant) {
  SteadyModel model;
  const SteadyRun whole;
  const auto starting = [&model](const SteadyRun& run) {
    ProgramStart start = run.start(model.url(), {"--reuse", "success"});
    start.shows_events = false;
    return start;
  };
  const Pace pace = pace_of(starting(whole), whole.out());
  const std::string diff = whole.artifact("changes.diff");
  const unsigned seed = std::random_device{}();
  Sweep sweep(pace, seed);
  const int wanted = kills_wanted(12);
  for (int stops = 0; stops < wanted;) {
    const SteadyRun run;
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 200);
      Program program(starting(run));
      sweep.wait(next_instant(sweep), starts, run.out(), program);
      if (stops < wanted) program.signal(signal);
      const ProgramEnd end = program.finish();
      if (end.status == 128 + signal) {
        ++stops;
        sweep.count(phase_of(run.out(), run.workspace()));
        continue;
      }
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
      break;
    }
    const bool same = run.artifact("changes.diff") == diff;
    BOOST_TEST(same, "seed " << seed << ":\n" << run.artifact("changes.diff"));
    check_record(run.out());
    check_verifies(run.out());
    BOOST_TEST(!fs::exists(run.out() / "state"));
  }
  BOOST_TEST_MESSAGE("seed " << seed << "; stopped: " << sweep.phases());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kills)

BOOST_AUTO_TEST_CASE(a_run_killed_in_its_start_or_end_comes_to_the_same_diff) {
  check_stops(SIGKILL, [](Sweep& sweep) { return sweep.any_instant(); });
}

// As an attempt is told, whose parent was killed. Before it can know of signals, it is as killed.
BOOST_AUTO_TEST_CASE(a_run_that_is_told_to_end_at_any_instant_comes_to_the_same_diff) {
  check_stops(SIGTERM, [](Sweep&) { return Instant::anywhere; });
}

BOOST_AUTO_TEST_CASE(
    an_applying_run_that_is_killed_at_any_instant_applies_the_same_diff_in_the_end) {
  SteadyModel model;
  const ApplyingRun whole;
  const Pace pace = pace_of(whole.applying(model.url()), whole.out());
  const std::string diff = whole.artifact("changes.diff");
  const auto tree = tree_of(whole.workspace());
  const unsigned seed = std::random_device{}();
  Sweep sweep(pace, seed);
  const int wanted = kills_wanted(15);
  for (int kills = 0; kills < wanted;) {
    const ApplyingRun run;
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 200);
      Program program(run.applying(model.url()));
      const Instant instant = sweep.any(4) == 0 ? sweep.any_instant() : Instant::end;
      sweep.wait(instant, starts, run.out(), program);
      if (kills < wanted) program.signal(SIGKILL);
      const ProgramEnd end = program.finish();
      if (end.status == 137) {
        ++kills;
        sweep.count(phase_of(run.out(), run.workspace()));
        continue;
      }
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
      break;
    }
    const bool same = run.artifact("changes.diff") == diff;
    BOOST_TEST(same, "seed " << seed << ":\n" << run.artifact("changes.diff"));
    const bool applied = tree_of(run.workspace()) == tree;
    BOOST_TEST(applied, "seed " << seed);
    BOOST_TEST(run.result()["applied"].boolean(), "seed " << seed);
    BOOST_TEST(!fs::exists(run.path("out.prev")), "seed " << seed);
    check_record(run.out());
    check_verifies(run.out());
    BOOST_TEST(!fs::exists(run.out() / "state"));
  }
  BOOST_TEST_MESSAGE("seed " << seed << "; killed: " << sweep.phases());
}

BOOST_AUTO_TEST_CASE(submodules_are_applied_whole_however_often_that_is_killed) {
  struct ModulesRun : RunFolder {
    ModulesRun() {
      make_modules(*this);
      write_task(script_of("for i in $(seq 40); do echo $i > new$i; echo $i > sub/new$i; echo $i > "
                           "sub/inner/new$i; done; echo 2 > sub/file; rm sub/gone; mv file moved"),
                 "policy: auto\noutput: {diff: {submodules: [sub, sub/inner]}}\n");
    }
    /// .gitmodules names the folder of the test.
    std::map<std::string, std::string> tree() const {
      auto files = files_of(workspace());
      std::erase_if(files, [](const auto& one) { return one.first.ends_with(".gitmodules"); });
      return files;
    }
    ProgramStart applying() const { return plain_start({"--apply", "--reuse", "success"}); }
  };
  const ModulesRun whole;
  const Pace pace = pace_of(whole.applying(), whole.out());
  const auto tree = whole.tree();
  BOOST_REQUIRE(tree.contains("sub/inner/new40"));
  const unsigned seed = std::random_device{}();
  Sweep sweep(pace, seed);
  const int wanted = kills_wanted(10);
  for (int kills = 0; kills < wanted;) {
    const ModulesRun run;
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 200);
      Program program(run.applying());
      sweep.wait(Instant::end, starts, run.out(), program);
      if (kills < wanted) program.signal(SIGKILL);
      const ProgramEnd end = program.finish();
      if (end.status == 137) {
        ++kills;
        sweep.count(phase_of(run.out(), run.workspace()));
        continue;
      }
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
      break;
    }
    const bool applied = run.tree() == tree;
    BOOST_TEST(applied, "seed " << seed);
    BOOST_TEST(run.result()["applied"].boolean(), "seed " << seed);
    BOOST_TEST(!fs::exists(run.workspace() / ".sortie-apply"));
    check_verifies(run.out());
  }
  BOOST_TEST_MESSAGE("seed " << seed << "; killed: " << sweep.phases());
}

BOOST_AUTO_TEST_CASE(attempts_that_are_killed_at_any_instant_come_to_the_same_diff) {
  SteadyModel model;
  const unsigned seed = std::random_device{}();
  const int wanted = kills_wanted(8);
  for (const std::string pick : {"first-passing", "smallest-diff"}) {
    const AttemptsRun whole(pick);
    const std::vector<std::string> flags = {"--apply", "--reuse", "success"};
    const Pace pace = pace_of(whole.starting(model.url(), flags), whole.out());
    const std::string diff = whole.artifact("changes.diff");
    const auto tree = tree_of(whole.workspace());
    Sweep sweep(pace, seed);
    for (int kills = 0; kills < wanted / 2;) {
      const AttemptsRun run(pick);
      for (int starts = 0;; ++starts) {
        BOOST_REQUIRE(starts < 200);
        Program program(run.starting(model.url(), flags));
        sweep.wait(sweep.any_instant(), starts, run.out(), program);
        if (kills < wanted / 2) {
          // The process of all, that of one attempt or those of all: the others end in their own way.
          const int victim = sweep.any(3);
          std::vector<pid_t> attempts;
          try {
            attempts = attempts_of(program);
          } catch (const std::exception&) {  // it has ended
          }
          if (victim == 1 && !attempts.empty()) ::kill(attempts.front(), SIGKILL);
          if (victim == 2)
            for (const pid_t attempt : attempts) ::kill(attempt, SIGKILL);
          if (victim != 1) program.signal(SIGKILL);
          sweep.count(victim == 0   ? "the process of all"
                      : victim == 1 ? "one attempt"
                                    : "all of them");
          ++kills;
        }
        const ProgramEnd end = program.finish();
        if (end.status == 137) {
          sweep.count(phase_of(run.out(), run.workspace()));
          continue;
        }
        // Where the only attempts at work were killed, it says that it can go on.
        if (end.status == 7 && run.result()["retryable"].boolean()) continue;
        BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
        break;
      }
      const bool same = run.artifact("changes.diff") == diff;
      BOOST_TEST(same, pick << ", seed " << seed << ":\n" << run.artifact("changes.diff"));
      const bool applied = tree_of(run.workspace()) == tree;
      BOOST_TEST(applied, pick << ", seed " << seed);
      BOOST_TEST(!fs::exists(run.path("out.prev")), "seed " << seed);
      check_record(run.out());
      check_verifies(run.out());
      BOOST_TEST(!fs::exists(fs::symlink_status(run.out() / "state")));
    }
    BOOST_TEST_MESSAGE("seed " << seed << "; " << pick << "; killed: " << sweep.phases());
  }
}

BOOST_AUTO_TEST_SUITE_END()
