// Replays of runs that were killed in a call, and gone on with: what the call had done is in the record.
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Changes of all kinds, as half of what a command does.
constexpr const char* kHalf =
    "echo more >> a.txt; rm b.txt; mkdir -p new/er; ln -s ../../a.txt new/er/link; chmod +x run.sh; "
    "mv folder moved; rm -r gone; echo file > gone; head -c 300000 /dev/urandom > big.bin; "
    "echo log > x.log; : > empty; mv made renamed; ";

struct CutOffRun : RunFolder {
  explicit CutOffRun(const std::string& isolation = "auto") {
    write("work/a.txt", "one\n");
    write("work/b.txt", "b\n");
    write("work/run.sh", "echo\n");
    write("work/folder/in.txt", "in\n");
    write("work/gone/x.txt", "x\n");
    write("work/.gitignore", "*.log\n/many/\n");
    commit_workspace();
    task_ =
        "version: 1\nprompt: x\npolicy: auto\nmodel: {provider: replay, cassette: "
        "cassette.jsonl}\nworkspace: {path: work, isolation: " +
        isolation + "}\n";
  }
  /// Runs `half` as the second call, kills it there, and goes on.
  void run_and_kill(const std::string& half) const {
    const std::string marker = "31557600." + std::to_string(::getpid()) + "7";
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", "echo two >> a.txt; mkdir made; echo made > made/it.txt"}).next();
    cassette.shell({"sh", "-c", half + "exec sleep " + marker}).next();
    cassette.shell({"sh", "-c", "cat x.log new/er/link; echo three >> a.txt"})
        .next()
        .message("done");
    cassette.save(path("cassette.jsonl"));
    write("task.yaml", task_);
    kill_at("sleep" + std::string(1, '\0') + marker);
    go_on();
  }
  void kill_at(const std::string& command) const {
    Program program(plain_start());
    BOOST_REQUIRE(wait_until([&] { return !processes_with(command).empty(); }));
    program.signal(SIGKILL);
    program.finish();
  }
  void go_on() const {
    const ProgramEnd end = run();
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    BOOST_REQUIRE(records("run.started").size() == 2u);
  }
  /// Replays it both ways, by everybody and elsewhere.
  void check_replays(const std::string& gap = "") const {
    const ProgramEnd verified = run_program(
        {.argv = {sortie_binary(), "verify", out().string(), "-C", workspace().string()}});
    BOOST_TEST(verified.status == 0, verified.errors);
    const ProgramEnd recorded =
        run_program({.argv = {sortie_binary(), "replay", out().string(), "--tools", "recorded"}});
    BOOST_TEST(recorded.status == 0, recorded.errors);
    fs::remove_all(path("elsewhere"));
    BOOST_REQUIRE(
        std::system(("cp -r '" + workspace().string() + "' '" + path("elsewhere").string() + "'")
                        .c_str()) == 0);
    for (const Caller& caller : all_callers()) {
      BOOST_TEST_CONTEXT(caller.name) {
        ProgramStart start;
        start.argv = {sortie_binary(),
                      "replay",
                      out().string(),
                      "-C",
                      path("elsewhere").string(),
                      "--out",
                      path("again").string(),
                      "--isolation",
                      "auto"};

        const ProgramEnd again = run_as(caller, start);

        BOOST_TEST(again.status == 0, again.errors);
        if (gap.empty())
          BOOST_TEST(!holds(again.errors, "not done again"), again.errors);
        else
          BOOST_TEST(holds(again.errors, gap), again.errors);
        BOOST_TEST(read_file(path("again/changes.diff")) == artifact("changes.diff"));
        fs::remove_all(path("again"));
      }
    }
  }
  /// The record of the call that was cut off.
  Json cut_off() const {
    for (const Json& output : records("tool.output"))
      if (output.string_at("verdict") == "interrupted") return output;
    return {};
  }

 private:
  std::string task_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cut_off_replay)

BOOST_AUTO_TEST_CASE(what_a_killed_call_had_changed_is_recorded_told_and_replayed) {
  for (const std::string isolation : {"overlay", "copy"}) {
    BOOST_TEST_CONTEXT(isolation) {
      const CutOffRun run(isolation);

      run.run_and_kill(kHalf);

      BOOST_TEST(write_json(run.cut_off()["changed_files"]) ==
                 "[\"M a.txt\",\"D b.txt\",\"A big.bin\",\"A empty\",\"D folder/in.txt\",\"A "
                 "gone\",\"D gone/x.txt\",\"D made/it.txt\",\"A moved/in.txt\",\"A "
                 "new/er/link\",\"A renamed/it.txt\",\"M run.sh\",\"A x.log\"]");
      const std::string told = run.output(1);
      BOOST_TEST(holds(told, "written since it began: a.txt, big.bin, "), told);
      BOOST_TEST(holds(told, "removed since it began: b.txt, folder/in.txt, "), told);
      // Each change of a path begins with what the one before has left.
      std::map<std::string, std::string> known;
      for (const Json& change : run.records("file.changed")) {
        const auto before = known.find(change.string_at("path"));
        if (before != known.end())
          BOOST_TEST(change.string_at("sha256_before") == before->second, before->first);
        known[change.string_at("path")] = change.string_at("sha256_after");
      }
      run.check_replays();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_killed_call_that_changed_nothing_replays_without_a_gap) {
  const CutOffRun run;

  run.run_and_kill("true; ");

  BOOST_TEST(write_json(run.cut_off()["changed_files"]) == "[]");
  run.check_replays();
}

BOOST_AUTO_TEST_CASE(of_very_many_changes_those_of_the_diff_are_kept) {
  const CutOffRun run;

  run.run_and_kill(
      "mkdir many; i=0; while [ $i -lt 1200 ]; do echo $i > many/$i; i=$((i+1)); done; "
      "echo z > zz.txt; ");

  BOOST_TEST(run.cut_off()["changed_files"].items().size() == 101u);
  BOOST_TEST(holds(run.artifact("changes.diff"), "zz.txt"));
  BOOST_TEST(run.records("file.changed").size() < 1010u);
  run.check_replays("201 more changes of shell");
}

BOOST_AUTO_TEST_CASE(what_a_session_wrote_beside_the_calls_until_a_kill_is_replayed) {
  const CutOffRun run;
  const std::string marker = "31557600." + std::to_string(::getpid()) + "8";
  CassetteWriter cassette;
  cassette
      .call(
          "exec_command",
          Json::object(
              {{"cmd", "echo first > s.txt; read line; echo second >> s.txt; exec sleep " + marker},
               {"yield_time_ms", 250},
               {"tty", true}}))
      .next()
      .shell({"sh", "-c", "echo two >> a.txt"})
      .next()
      .call("write_stdin",
            Json::object({{"session_id", 1}, {"chars", "x\n"}, {"yield_time_ms", 60000}}))
      .next()
      .shell({"sh", "-c", "cat s.txt >> a.txt"})
      .next()
      .message("done");
  cassette.save(run.path("cassette.jsonl"));
  run.write("task.yaml",
            "version: 1\nprompt: x\npolicy: auto\nmodel: {provider: replay, cassette: "
            "cassette.jsonl}\nworkspace: {path: work}\n"
            "tools: {enable: [exec_command, write_stdin, shell]}\n");
  run.kill_at("sleep" + std::string(1, '\0') + marker);
  run.go_on();

  BOOST_TEST(holds(run.artifact("changes.diff"), "+second"));
  run.check_replays();
}

// The tree is the one of an earlier turn: what later calls had done is undone in the record too.
BOOST_AUTO_TEST_CASE(a_run_that_goes_on_from_a_checkpoint_elsewhere_replays) {
  const CutOffRun run;
  const std::string marker = "31557600." + std::to_string(::getpid()) + "9";
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo two >> a.txt"}).next();
  cassette.shell({"sh", "-c", "echo lost >> a.txt; echo lost > lost.txt"})
      .shell({"sh", "-c", "echo half > half.txt; exec sleep " + marker})
      .next();
  cassette.shell({"sh", "-c", "ls; echo three >> a.txt"}).next().message("done");
  cassette.save(run.path("cassette.jsonl"));
  run.write("task.yaml",
            "version: 1\nprompt: x\npolicy: auto\nmodel: {provider: replay, cassette: "
            "cassette.jsonl}\nworkspace: {path: work}\n");
  run.kill_at("sleep" + std::string(1, '\0') + marker);
  // As it comes to another machine.
  const std::string line =
      "cd '" + run.path("").string() +
      "' && mkdir brought && tar -C out --exclude=./state/work --exclude=./state/upper "
      "--exclude=./state/tree -cf - . | tar -xf - -C brought && mv out before && mv brought out";
  BOOST_REQUIRE(std::system(line.c_str()) == 0);
  run.go_on();

  BOOST_TEST(holds(run.artifact("changes.diff"), "+two\n+three\n"), run.artifact("changes.diff"));
  run.check_replays();
}

BOOST_AUTO_TEST_CASE(a_secret_in_what_a_killed_call_wrote_is_not_kept) {
  const CutOffRun run;

  run.run_and_kill("echo AKIA\"IOSFODNN7QWERTYU\" > x.log; ");

  BOOST_TEST(!holds(run.artifact("transcript.jsonl"), "QUtJQUlPU0ZPRE5ON"));  // in Base64
  for (const Json& change : run.records("file.changed"))
    if (change.string_at("path") == "x.log") BOOST_TEST(change.string_at("content") == "");
  run.check_replays("the change of x.log");
}

BOOST_AUTO_TEST_SUITE_END()
