// --apply for a run whose work is done: the same command asks no model again.
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

const std::string kOwn = "a\nuncommitted\n";

/// A run against HEAD, where the user's uncommitted line stands against --apply.
struct ConflictRun : RunFolder {
  ConflictRun() {
    write("work/a.txt", "a\n");
    write("work/gone", "x\n");
    commit_workspace();
    write("work/a.txt", kOwn);
    write_task(
        CassetteWriter()
            .shell({"sh", "-c", "echo new >> a.txt; rm gone; echo b > b.txt"})
            .next()
            .message("done"),
        "policy: auto\noutput: {diff: {base: head}}\nverify: {commands: ['test -f b.txt']}\n");
  }
  ProgramEnd again(std::vector<std::string> flags = {"--apply"}) const {
    flags.insert(flags.end(), {"--reuse", "success"});
    return run_program(plain_start(flags));
  }
  void put_back() const { write("work/a.txt", "a\n"); }
  bool is_untouched() const {
    return fs::exists(path("work/gone")) && !fs::exists(path("work/b.txt")) &&
           !fs::exists(path("work/.sortie-apply"));
  }
  bool is_applied() const {
    return read_file(path("work/a.txt")) == "a\nuncommitted\nnew\n" && !is_untouched() &&
           read_file(path("work/b.txt")) == "b\n";
  }
  /// Nothing was asked or verified twice, and the folder proves itself.
  void check_paid_once() const {
    BOOST_TEST(records("turn.started").size() == 2u);
    BOOST_TEST(records("run.started").size() == 1u);
    BOOST_TEST(records("verification.completed").size() == 1u);
    const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", out().string()}});
    BOOST_TEST(end.status == 0, end.errors + end.output);
    BOOST_TEST(!fs::exists(path("out.prev")));
  }
};

bool says(const ProgramEnd& end, const std::string& part) {
  return end.errors.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(apply_again)

BOOST_AUTO_TEST_CASE(a_diff_that_could_not_be_applied_is_applied_by_the_same_command) {
  const ConflictRun run;
  const ProgramEnd first = run.again();
  BOOST_REQUIRE_MESSAGE(first.status == 13, first.errors);
  BOOST_TEST(says(first, "run the same command again: it applies the diff"), first.errors);
  BOOST_TEST(!run.result()["applied"].boolean(true));
  run.check_paid_once();

  const ProgramEnd same = run.again();
  BOOST_TEST(same.status == 13, same.errors);
  BOOST_TEST(says(same, "a.txt: has another content now"), same.errors);
  BOOST_TEST(run.is_untouched());
  BOOST_TEST(fs::exists(run.out() / "partial.diff"));
  BOOST_TEST(!fs::exists(run.out() / "changes.diff"));
  run.check_paid_once();

  run.put_back();
  const std::string diff = run.path("d.diff").string();
  const ProgramEnd end = run.again({"--apply", "--diff", diff});
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "done\n");
  BOOST_TEST(run.is_applied());
  const Json result = run.result();
  BOOST_TEST(result["applied"].boolean());
  BOOST_TEST(result["applied_paths"].texts().size() == 3u);
  BOOST_TEST(result["verified"].boolean());
  BOOST_TEST(read_file(diff) == run.artifact("changes.diff"));
  BOOST_TEST(!fs::exists(run.out() / "partial.diff"));
  BOOST_TEST(!fs::exists(run.out() / "state"));
  run.check_paid_once();

  // And from then on it is returned as it was.
  BOOST_TEST(run.again().status == 0);
  BOOST_TEST(run.result()["cached"].boolean());
  BOOST_TEST(run.result()["applied"].boolean());
  run.check_paid_once();
}

BOOST_AUTO_TEST_CASE(without_the_flag_it_is_the_success_that_it_was) {
  const ConflictRun run;
  BOOST_REQUIRE(run.again().status == 13);

  const ProgramEnd end = run.again({});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(run.is_untouched());
  BOOST_TEST(run.result()["applied"].is_null());
  BOOST_TEST(run.artifact("changes.diff").find("+new\n") != std::string::npos);
  run.check_paid_once();
}

BOOST_AUTO_TEST_CASE(events_show_the_whole_run_and_its_new_end) {
  const ConflictRun run;
  BOOST_REQUIRE(run.again().status == 13);
  run.put_back();

  const ProgramEnd end = run.run({"--apply", "--reuse", "success"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.events.back().integer_at("exit_code", -1) == 0);
  BOOST_TEST(run.is_applied());
}

BOOST_AUTO_TEST_CASE(a_success_is_applied_once_the_flag_is_given_and_again_where_it_was_undone) {
  const ConflictRun run;
  run.put_back();
  BOOST_REQUIRE(run.again({}).status == 0);
  BOOST_TEST(run.is_untouched());

  BOOST_TEST(run.again().status == 0);
  const bool applied = read_file(run.path("work/a.txt")) == "a\nnew\n";
  BOOST_TEST(applied);
  BOOST_TEST(run.result()["applied"].boolean());
  run.check_paid_once();

  git(run.workspace(), {"checkout", "."});
  git(run.workspace(), {"clean", "-fdq"});
  BOOST_TEST(run.again().status == 0);
  BOOST_TEST(read_file(run.path("work/a.txt")) == "a\nnew\n");
  BOOST_TEST(!fs::exists(run.path("work/gone")));
  run.check_paid_once();
}

// Killed after the record of its end and before result.json: the next start takes the diff back first.
BOOST_AUTO_TEST_CASE(what_was_taken_back_after_a_kill_is_told_as_not_applied) {
  for (const bool applies : {false, true}) {
    BOOST_TEST_CONTEXT((applies ? "with" : "without") << " --apply") {
      const ConflictRun run;
      run.put_back();
      BOOST_REQUIRE(run.again().status == 0);
      BOOST_REQUIRE(run.result()["applied"].boolean());
      const Json result = run.result();
      run.write("out/result.json", write_json(Json::object({{"version", 1},
                                                            {"status", "running"},
                                                            {"sortie", result["sortie"]},
                                                            {"run_id", result["run_id"]},
                                                            {"run_key", result["run_key"]}})));
      run.put_back();
      run.write("work/gone", "x\n");
      fs::remove(run.path("work/b.txt"));

      const ProgramEnd end =
          run.again(applies ? std::vector<std::string>{"--apply"} : std::vector<std::string>{});

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.result()["applied"].boolean(false) == applies);
      BOOST_TEST(fs::exists(run.path("work/b.txt")) == applies);
      const std::string next = run.result().string_at("next");
      BOOST_TEST((next.find(applies ? "look at the changes" : "sortie land") == 0u), next);
      run.check_paid_once();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_somebody_changed_while_the_agent_did_lets_it_begin_anew) {
  const RunFolder run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  const std::string time = "31557600." + std::to_string(::getpid()) + "13";
  const std::string command = "sleep" + std::string(1, '\0') + time;
  run.write_task(
      CassetteWriter()
          .shell({"sh", "-c", "echo new >> a.txt; grep -q mine a.txt || sleep " + time + "; true"})
          .next()
          .message("done"),
      "policy: auto\n");
  const std::vector<std::string> flags = {"--reuse", "success"};
  Program program(run.plain_start(flags));
  BOOST_REQUIRE(wait_until([&] { return !processes_with(command).empty(); }));
  run.write("work/a.txt", "mine\n");
  for (const pid_t pid : processes_with(command)) ::kill(pid, SIGTERM);
  const ProgramEnd first = program.finish();
  BOOST_REQUIRE_MESSAGE(first.status == 13, first.errors);
  BOOST_TEST((run.result()["conflicts"].texts() == std::vector<std::string>{"a.txt"}));

  BOOST_TEST(says(first, "or run the same command again: it begins anew"), first.errors);

  const ProgramEnd end = run_program(run.plain_start(flags));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(fs::exists(run.path("out.prev/partial.diff")));
  BOOST_TEST(run.artifact("changes.diff").find(" mine\n+new\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
