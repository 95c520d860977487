#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/own_tree_run.h"

// Runs that work in the user's own tree: --isolation none.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// Makes a journal as sortie does, which brings a file back.
constexpr const char* kPlant =
    "import base64, json, os\n"
    "os.mkdir('.sortie-apply', 0o700)\n"
    "f = '.sortie-apply/'\n"
    "open(f + 'seal', 'w').close()\n"
    "open(f + 'old.0', 'w').write('planted')\n"
    "s = os.stat(f + 'seal')\n"
    "t = '%d.%d' % (s.st_ctime_ns // 10**9, s.st_ctime_ns % 10**9)\n"
    "p = base64.b64encode(b'Jenkinsfile').decode()\n"
    "old = {'inode': '1', 'kept': str(os.stat(f + 'old.0').st_ino)}\n"
    "one = {'path': p, 'old': old, 'folders': [], 'new_folders': []}\n"
    "seal = {'inode': str(s.st_ino), 'ctime': t}\n"
    "mark = {'result': '', 'run_id': ''}\n"
    "head = {'sortie_apply': 1, 'seal': seal, 'mark': mark}\n"
    "line = lambda x: json.dumps(x, separators=(',', ':')) + '\\n'\n"
    "open(f + 'journal', 'w').write(line(head) + line({'changes': [one]}))\n";

/// The milliseconds since a file was changed.
std::int64_t age(const fs::path& file) {
  struct stat status {};
  timespec now{};
  if (::stat(file.c_str(), &status) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  return (now.tv_sec - status.st_ctim.tv_sec) * 1000 +
         (now.tv_nsec - status.st_ctim.tv_nsec) / 1'000'000;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_tree)

BOOST_AUTO_TEST_CASE(a_success_leaves_the_tree_changed_and_the_diff_says_how) {
  for (const Caller& caller : all_callers()) {
    if (!caller.namespaces) continue;
    BOOST_TEST_CONTEXT(caller.name) {
      const OwnTreeRun folder(kWork);

      const ProgramEnd end = folder.run_as(caller, folder.start(kInPlace));

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(folder.result()["isolation"].string_at("mode") == "none");
      BOOST_TEST(
          folder.result().string_at("next").starts_with("nothing: the tree has the changes"));
      BOOST_TEST(read_file(folder.workspace() / "a.txt") == "by the run\n");
      BOOST_TEST(read_file(folder.workspace() / "new/c.txt") == "more\n");
      BOOST_TEST(!fs::exists(folder.workspace() / "b.txt"));
      BOOST_TEST(read_file(folder.workspace() / "untracked.txt") == "of the user\n");
      const std::string diff = folder.artifact("changes.diff");
      BOOST_TEST(diff.find("-edited before\n") != std::string::npos, diff);
      BOOST_TEST(diff.find("untracked") == std::string::npos, diff);
      BOOST_TEST(!fs::exists(folder.out() / "state"));
      const auto back =
          run_program({"git", "-c", "safe.directory=*", "apply", "-R", "../out/changes.diff"},
                      folder.workspace());
      BOOST_TEST(back.status == 0, back.output);
      BOOST_TEST(read_file(folder.workspace() / "b.txt") == "edited before\n");
      BOOST_TEST(verify_run(folder.out()).ok);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_end_that_is_no_success_puts_the_tree_back_and_keeps_the_work) {
  const struct {
    const char* name;
    const char* more;
    std::vector<std::string> flags;
    int status;
  } rows[] = {
      {"a verification that fails", "verify: {commands: ['false'], rounds: 0}\n", {}, 1},
      {"no turns left", "", {"--max-turns", "1"}, 4},
      {"a file that was not to be changed",
       "expect: {changes: forbidden}\nverify: {rounds: 0}\n",
       {},
       1},
      {"a diff that can't be written", "", {"--diff", "/dev/full"}, 7},
  };
  for (const Caller& caller : all_callers()) {
    if (!caller.namespaces) continue;
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(caller.name << ", " << row.name) {
        const OwnTreeRun folder(kWork + std::string("; echo x > y.log"), row.more);
        const std::string before = folder.tree();
        std::vector<std::string> flags = kInPlace;
        flags.insert(flags.end(), row.flags.begin(), row.flags.end());

        const ProgramEnd end = folder.run_as(caller, folder.start(flags));

        BOOST_TEST(end.status == row.status, end.errors);
        BOOST_TEST(read_file(folder.workspace() / "y.log") == "x\n");  // ignored files stay
        fs::remove(folder.workspace() / "y.log");
        BOOST_TEST(folder.tree() == before);
        BOOST_TEST(folder.has_warning("is as it was at the start of the run again"));
        const bool whole = fs::exists(folder.out() / "changes.diff");
        const std::string diff = folder.artifact(whole ? "changes.diff" : "partial.diff");
        BOOST_TEST(diff.find("+by the run\n") != std::string::npos, diff);
        BOOST_TEST(!fs::exists(folder.out() / "state"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_signal_puts_the_tree_back) {
  const Waiting waiting("1");
  const OwnTreeRun folder(kWork + waiting.words());
  const std::string before = folder.tree();
  Program program(folder.start(kInPlace));
  BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
  BOOST_TEST(read_file(folder.workspace() / "a.txt") == "by the run\n");

  program.signal(SIGTERM);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 143, end.errors);
  BOOST_TEST(folder.tree() == before);
}

BOOST_AUTO_TEST_CASE(
    after_a_kill_the_next_run_puts_the_tree_back_and_what_the_user_did_since_stays) {
  for (const bool out_inside : {false, true}) {
    BOOST_TEST_CONTEXT(out_inside) {
      const Waiting waiting(out_inside ? "2" : "3");
      const OwnTreeRun folder(kWork + waiting.words());
      const std::string before = folder.tree();
      std::vector<std::string> flags = kInPlace;
      const fs::path out = out_inside ? folder.workspace() / "out" : folder.out();
      flags.insert(flags.end(), {"--out", out.string()});
      Program program(folder.start(flags));
      BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
      program.signal(SIGKILL);
      program.finish();
      BOOST_REQUIRE(wait_until([&] { return waiting.processes().empty(); }));
      BOOST_TEST(read_file(folder.workspace() / "a.txt") == "by the run\n");

      folder.write_task(script("true"), "policy: auto\nexpect: {changes: any}\n");
      flags.push_back("--fresh");
      const ProgramEnd end = folder.run(flags);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(end.errors.find("the earlier run: ") != std::string::npos, end.errors);
      BOOST_TEST(folder.tree() == before);
    }
  }
}

BOOST_AUTO_TEST_CASE(after_a_kill_the_same_command_goes_on_in_the_tree) {
  for (const Caller& caller : all_callers()) {
    if (!caller.namespaces) continue;
    BOOST_TEST_CONTEXT(caller.name) {
      const Waiting waiting("4" + std::to_string(std::string(caller.name).size()));
      const OwnTreeRun folder(kWork + waiting.words(), "expect: {tool_success: false}\n");
      give_to(folder.path(""), caller.uid);
      Program program(as_caller(caller, folder.start(kInPlace)));
      BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
      program.signal(SIGKILL);
      program.finish();

      // Not run_as(): giving the files to the user once more is a change by somebody else.
      const ProgramEnd end = run_program(as_caller(caller, folder.start(kInPlace)));

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(folder.records("run.started").size() == 2);
      BOOST_TEST(read_file(folder.workspace() / "a.txt") == "by the run\n");
      const std::string diff = folder.artifact("changes.diff");
      BOOST_TEST(diff.find("-edited before\n") != std::string::npos, diff);
      BOOST_TEST(verify_run(folder.out()).ok);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_user_does_between_a_kill_and_the_same_command_is_named_and_stays) {
  const struct {
    const char* name;
    std::function<void(const OwnTreeRun&)> edit;
  } rows[] = {
      {"b.txt", [](const OwnTreeRun& run) { run.write("work/b.txt", "mine\n"); }},
      {"a.txt", [](const OwnTreeRun& run) { run.write("work/a.txt", "mine\n"); }},
      {"mine.txt", [](const OwnTreeRun& run) { run.write("work/mine.txt", "mine\n"); }},
      {"untracked.txt", [](const OwnTreeRun& run) { fs::remove(run.path("work/untracked.txt")); }},
      {"", [](const OwnTreeRun& run) { run.write("work/y.log", "ignored\n"); }},
      {"", [](const OwnTreeRun& run) { run.write("work/untracked.txt", "of the user\n"); }},
  };
  int number = 50;
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Waiting waiting(std::to_string(++number));
      const OwnTreeRun folder("echo by the run > a.txt; echo new > new.txt" + waiting.words(),
                              "expect: {tool_success: false}\n");
      Program program(folder.start(kInPlace));
      BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
      program.signal(SIGKILL);
      program.finish();
      BOOST_REQUIRE(wait_until([&] { return waiting.processes().empty(); }));
      // What is written sooner could be its own.
      BOOST_REQUIRE(wait_until([&] { return age(folder.out() / "state/in-place/alive") > 1100; }));
      row.edit(folder);
      const std::string edited = folder.tree();

      const ProgramEnd end = folder.run(kInPlace);

      const std::string name = row.name;
      BOOST_TEST(end.status == (name.empty() ? 0 : 2), end.errors);
      if (name.empty()) continue;
      BOOST_TEST(end.errors.find("the workspace has changed in " + name) != std::string::npos,
                 end.errors);
      BOOST_TEST(folder.tree() == edited);

      folder.write_task(script("true"), "policy: auto\nexpect: {changes: any}\n");
      const ProgramEnd fresh = folder.run({"--isolation", "none", "--fresh"});
      BOOST_TEST(fresh.status == 0, fresh.errors);
      BOOST_TEST(!fs::exists(folder.workspace() / "new.txt"));
      const bool removed = name == "untracked.txt";
      if (removed)
        BOOST_TEST(read_file(folder.workspace() / name) == "of the user\n");
      else
        BOOST_TEST(read_file(folder.workspace() / name) == "mine\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_failing_run_that_is_killed_at_any_instant_leaves_the_start_in_the_end) {
  const char* const count = std::getenv("SORTIE_TEST_KILLS");
  const int wanted = count != nullptr ? std::atoi(count) : 6;
  const std::string task = "verify: {commands: ['false'], rounds: 0}\n";
  const OwnTreeRun whole(kWork, task);
  const auto began = std::chrono::steady_clock::now();
  BOOST_REQUIRE(whole.run(kInPlace).status == 1);
  const auto took = std::chrono::steady_clock::now() - began;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0.2, 1.0);
  for (int kills = 0; kills < wanted;) {
    const OwnTreeRun run(kWork, task);
    const std::string before = run.tree();
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 100);
      const auto delay =
          std::chrono::duration_cast<std::chrono::milliseconds>(took * share(random));
      Program program(run.start(kInPlace));
      ::poll(nullptr, 0, static_cast<int>(delay.count()));
      if (starts < 4) program.signal(SIGKILL);
      const ProgramEnd end = program.finish();
      if (end.status == 137) {
        ++kills;
        continue;
      }
      BOOST_TEST(end.status == 1, end.errors << " (seed " << seed << ")");
      break;
    }
    BOOST_TEST(run.tree() == before, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(without_namespaces_it_is_refused_unless_nothing_is_protected) {
  for (const Caller& caller : all_callers()) {
    if (caller.namespaces) continue;
    BOOST_TEST_CONTEXT(caller.name) {
      const OwnTreeRun refused(kWork);
      const ProgramEnd end = refused.run_as(caller, refused.start(kInPlace));
      BOOST_TEST(end.status == 7, end.errors);
      BOOST_TEST(end.errors.find("paths.protect: []") != std::string::npos, end.errors);
      BOOST_TEST(read_file(refused.workspace() / "a.txt") == "first\n");

      for (const bool success : {true, false}) {
        const OwnTreeRun folder(kWork, success ? "" : "verify: {commands: ['false'], rounds: 0}\n");
        folder.write("policy.yaml",
                     "version: 1\napproval: full-auto\nunreadable: allow\npaths: {protect: []}\n");
        std::string task = read_file(folder.task());
        task.replace(task.find("policy: auto"), 12, "policy: policy.yaml");
        folder.write("task.yaml", task);
        const std::string before = folder.tree();
        const ProgramEnd done = folder.run_as(caller, folder.start(kInPlace));
        BOOST_TEST(done.status == (success ? 0 : 1), done.errors);
        if (success)
          BOOST_TEST(read_file(folder.workspace() / "a.txt") == "by the run\n");
        else
          BOOST_TEST(folder.tree() == before);
      }
    }
  }
}

// It has what tells sortie's own journal from one of a checkout: its own file's number and time.
BOOST_AUTO_TEST_CASE(a_journal_that_a_command_forges_in_the_users_tree_is_obeyed_by_no_later_run) {
  for (const Caller& caller : all_callers()) {
    if (!caller.namespaces) continue;
    for (const std::string folder_name : {".", "sub"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << folder_name) {
        const OwnTreeRun folder("echo more >> a.txt; cd " + folder_name +
                                    " && python3 \"$OLDPWD/plant.py\" && test -s " +
                                    ".sortie-apply/journal",
                                "expect: {tool_success: false}\n");
        folder.write("work/plant.py", kPlant);
        folder.write("work/sub/x", "x\n");

        const ProgramEnd end = folder.run_as(caller, folder.start(kInPlace));

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(end.errors.find("protected_path_made: ") != std::string::npos, end.errors);
        BOOST_TEST(!fs::exists(folder.workspace() / folder_name / ".sortie-apply"));
        BOOST_TEST(folder.artifact("changes.diff").find(".sortie-apply") == std::string::npos);
        const ProgramEnd next =
            folder.run_as(caller, folder.start({"--isolation", "overlay", "--fresh", "-C",
                                                (folder.workspace() / folder_name).string()}));
        BOOST_TEST(next.errors.find("the application of a diff") == std::string::npos, next.errors);
        BOOST_TEST(!fs::exists(folder.workspace() / folder_name / "Jenkinsfile"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_journal_that_a_killed_run_leaves_in_the_users_tree_is_not_believed) {
  const Waiting waiting("7");
  const OwnTreeRun folder("python3 plant.py" + waiting.words());
  folder.write("work/plant.py", kPlant);
  Program program(folder.start(kInPlace));
  BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
  program.signal(SIGKILL);
  program.finish();
  BOOST_REQUIRE(wait_until([&] { return waiting.processes().empty(); }));
  BOOST_REQUIRE(fs::exists(folder.workspace() / ".sortie-apply/journal"));

  const ProgramEnd next = run_program(folder.plain_start(kInPlace));

  BOOST_TEST(next.status == 13, next.errors);
  BOOST_TEST(next.errors.find(".sortie-apply was made since a run began") != std::string::npos,
             next.errors);
  BOOST_TEST(!fs::exists(folder.workspace() / "Jenkinsfile"));
}

BOOST_AUTO_TEST_SUITE_END()
