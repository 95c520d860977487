#include <boost/test/unit_test.hpp>
#include <csignal>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

// `sortie show`.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ProgramStart show(const fs::path& run, std::vector<std::string> more = {}) {
  std::vector<std::string> argv = {sortie_binary(), "show", run.string()};
  argv.insert(argv.end(), more.begin(), more.end());
  return {.argv = argv};
}

/// A run with a denial and a hostile output, whose verification fails.
struct FailedRun : RunFolder {
  FailedRun() {
    write("work/a.txt", "a\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"rm", "-rf", "/etc"}).next();
    cassette.shell({"sh", "-c", "printf 'b\\033[2Jc\\n' > a.txt; cat a.txt; exit 3"}).next();
    cassette.message("done \x1b[31mred\n::error::no").next().message("done");
    write("policy.yaml", "version: 1\nextends: auto\ncommands:\n  - deny: [rm]\n    why: no\n");
    write_task(cassette,
               "policy: policy.yaml\nverify: {commands: [grep never a.txt], rounds: 1}\n");
  }
};

/// A run that waits for its end.
struct WaitingRun : RunFolder {
  WaitingRun() {
    write("work/a.txt", "a\n");
    commit_workspace();
    CassetteWriter cassette;
    write_task(cassette.shell({"sh", "-c", "echo b > a.txt; sleep 600"}).next().message("done"),
               "policy: auto\n");
  }
  void wait_for_call() const {
    BOOST_REQUIRE(wait_until([this] {
      std::error_code error;
      return fs::exists(out() / "transcript.jsonl", error) &&
             says(artifact("transcript.jsonl"), R"("type":"tool.call")");
    }));
  }
};

/// The same on a terminal, by script(1).
ProgramEnd on_terminal(const fs::path& run, const std::string& flags,
                       std::map<std::string, std::string> environment) {
  ProgramStart start{.argv = {"script", "-qec",
                              "'" + sortie_binary() + "' show '" + run.string() + "' " + flags,
                              "/dev/null"}};
  for (auto& [name, value] : environment) start.environment[name] = value;
  start.environment["TERM"] = "xterm";
  return run_program(start);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(show_command)

BOOST_AUTO_TEST_CASE(a_run_is_told_with_its_log_and_its_end) {
  const FailedRun folder;
  BOOST_TEST(folder.run().status == 1);

  const ProgramEnd end = run_program(show(folder.out()));

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  for (const char* part :
       {"[1] $ rm -rf /etc (denied", "(exit 3", "verify: $ grep never a.txt", "denied: 1 call",
        "1 x shell", "1 file changed, +1 -1", "  M a.txt +1 -1", "\ntask-failed (1): ", "\nnext: "})
    BOOST_TEST(says(end.output, part), part << " in " << end.output);
  BOOST_TEST(!says(end.output, "\x1b"), end.output);
  const ProgramEnd coloured = run_program(show(folder.out(), {"--color", "always"}));
  BOOST_TEST(says(coloured.output, "\x1b["));
  BOOST_TEST(!says(coloured.output, "\x1b[2J"));
  ProgramStart in_ci = show(folder.out());
  in_ci.environment["GITHUB_ACTIONS"] = "true";
  BOOST_TEST(!says(run_program(in_ci).output, "\n::error"));
}

BOOST_AUTO_TEST_CASE(the_diff_is_shown_in_colours_and_cut) {
  RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write("work/old.txt", "1\n2\n3\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell(
      {"sh", "-c",
       "echo b > a.txt; mv old.txt renamed.txt; seq 500 > many; printf '\\033[2J\\n' > z"});
  folder.write_task(cassette.next().message("done"), "policy: auto\n");
  BOOST_TEST(folder.run().status == 0);

  const std::string shown = run_program(show(folder.out())).output;
  const std::string whole = run_program(show(folder.out(), {"-v"})).output;
  const std::string without = run_program(show(folder.out(), {"--no-diff"})).output;
  const std::string coloured = run_program(show(folder.out(), {"--color", "always"})).output;

  for (const char* part :
       {"\n--- a.txt (modified)\n@@ -1 +1 @@\n-a\n+b\n", "(renamed from old.txt)",
        "--- many (added)\n", "\n+200\n… 300 more lines of this file\n"})
    BOOST_TEST(says(shown, part), part << " in " << shown);
  BOOST_TEST(
      says(shown, "… 300 more lines in all: see " + (folder.out() / "changes.diff").string()));
  BOOST_TEST(!says(shown, "\n+201\n"));
  BOOST_TEST(says(whole, "\n+500\n"));
  BOOST_TEST(!says(whole, "more line"));
  BOOST_TEST(!says(without, "@@"));
  BOOST_TEST(says(without, "  M a.txt +1 -1"));
  BOOST_TEST(says(coloured, "\x1b[32m+b\x1b[0m\n"), coloured);
  BOOST_TEST(!says(coloured, "\x1b[2J"));
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_a_pager_and_colours) {
  const FailedRun folder;
  BOOST_TEST(folder.run().status == 1);

  const ProgramEnd paged = on_terminal(folder.out(), "", {{"PAGER", "sed 's/^/P:/'"}});
  const ProgramEnd plain = on_terminal(folder.out(), "", {{"PAGER", "cat"}, {"NO_COLOR", "1"}});
  const ProgramEnd absent = on_terminal(folder.out(), "", {{"PAGER", "/no/such/pager"}});

  BOOST_TEST(paged.status == 0, paged.output);
  BOOST_TEST(says(paged.output, "P:"), paged.output);
  BOOST_TEST(says(paged.output, "\x1b["), paged.output);
  BOOST_TEST(!says(plain.output, "\x1b"), plain.output);
  BOOST_TEST(says(plain.output, "task-failed (1): "), plain.output);
  BOOST_TEST(absent.status == 0, absent.output);
}

BOOST_AUTO_TEST_CASE(a_run_under_way_is_followed_to_its_end) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    BOOST_TEST_CONTEXT(signal) {
      const WaitingRun folder;
      Program run(folder.start());
      folder.wait_for_call();
      Program shown(show(folder.out(), {"--follow", "-v"}));
      BOOST_REQUIRE(shown.wait_for_output_text("sleep 600"));

      run.signal(signal);
      run.finish();
      const ProgramEnd end = shown.finish();

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(says(end.output, signal == SIGTERM ? "\ninterrupted (143): " : "\nunfinished: "),
                 end.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(following_ends_with_its_reader_and_by_a_signal) {
  const WaitingRun folder;
  Program run(folder.start());
  folder.wait_for_call();

  const ProgramEnd cut = run_program({.argv = {"bash", "-c",
                                               "'" + sortie_binary() + "' show -f -v '" +
                                                   folder.out().string() + "' | head -n 1"}});
  Program shown(show(folder.out(), {"-f", "-v"}));
  BOOST_REQUIRE(shown.wait_for_output_text("sleep 600"));
  shown.signal(SIGINT);
  const ProgramEnd interrupted = shown.finish();

  BOOST_TEST(cut.status == 0, cut.errors);
  BOOST_TEST(interrupted.status == 130);
  BOOST_TEST(interrupted.errors == "");
  run.signal(SIGKILL);
  run.finish();
}

BOOST_AUTO_TEST_CASE(what_is_no_run_is_named) {
  const RunFolder folder;
  folder.write("broken/transcript.jsonl", "{}\n");

  const ProgramEnd none = run_program(show(folder.path("none")));
  const ProgramEnd broken = run_program(show(folder.path("broken")));

  BOOST_TEST(none.status == 2, none.errors);
  BOOST_TEST(broken.status == 2, broken.errors);
  BOOST_TEST(says(broken.errors, "not a run's transcript"), broken.errors);
}

BOOST_AUTO_TEST_SUITE_END()
