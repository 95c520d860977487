// What the same command makes of what it finds in --out.
#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool says(const ProgramEnd& end, const std::string& part) {
  return end.errors.find(part) != std::string::npos;
}

/// A change, then a command that goes on for ever in the first process that runs it.
CassetteWriter waiting_script() {
  return CassetteWriter()
      .shell({"sh", "-c", "echo one >> a.txt"})
      .next()
      .shell({"sh", "-c", "echo two >> a.txt; exec sleep 1000"})
      .next()
      .shell({"sh", "-c", "echo three >> a.txt"})
      .next()
      .message("done");
}

struct WaitingRun : RunFolder {
  explicit WaitingRun(const std::string& more = {}) {
    write("work/a.txt", "a\n");
    write("work/b.txt", "b\n");
    commit_workspace();
    write_task(waiting_script(), "policy: auto\n" + more);
  }
  /// Starts it, and kills it in its second command.
  void kill_in_command(const std::vector<std::string>& flags = {}) const {
    Program program(plain_start(flags));
    BOOST_REQUIRE(wait_until([this] {
      return fs::exists(out() / "transcript.jsonl") && records("tool.call").size() == 2 &&
             written_twice();
    }));
    program.signal(SIGKILL);
    program.finish();
  }
  bool written_twice() const {
    for (const char* place : {"state/upper/a.txt", "state/tree/a.txt"}) {
      std::error_code error;
      if (fs::exists(out() / place, error)) return read_file(out() / place) == "a\none\ntwo\n";
    }
    return false;
  }
};

/// A run with a change that ends at once.
struct ShortRun : RunFolder {
  ShortRun() {
    write("work/a.txt", "a\n");
    write("work/b.txt", "b\n");
    commit_workspace();
    write_task(CassetteWriter().shell({"sh", "-c", "echo one >> a.txt"}).next().message("done"),
               "policy: auto\n");
  }
  ProgramEnd again(std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--reuse", "success"});
    return run_program(plain_start(flags));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(same_command)

BOOST_AUTO_TEST_CASE(a_killed_run_goes_on_in_its_transcript_and_tells_the_model) {
  for (const std::string isolation : {"overlay", "copy"}) {
    BOOST_TEST_CONTEXT(isolation) {
      const WaitingRun run("workspace: {path: work, isolation: " + isolation + "}\n");
      // The first one has its own line for the workspace.
      run.write("task.yaml",
                "version: 1\nprompt: Do it.\npolicy: auto\nworkspace: {path: work, "
                "isolation: " +
                    isolation + "}\nmodel: {provider: replay, cassette: cassette.jsonl}\n");
      run.kill_in_command();
      const std::string before = read_file(run.out() / "transcript.jsonl");

      const ProgramEnd end = run.run();

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      BOOST_TEST(read_file(run.out() / "transcript.jsonl").starts_with(before));
      BOOST_TEST(run.records("run.started").size() == 2u);
      BOOST_TEST(!run.records("run.started")[1].string_at("resumed_from").empty());
      const std::string output = run.output(1);
      BOOST_TEST(output.starts_with("Interrupted: "), output);
      BOOST_TEST(output.find("written since it began: a.txt") != std::string::npos, output);
      BOOST_TEST(run.artifact("changes.diff").find("+one\n+two\n+three\n") != std::string::npos,
                 run.artifact("changes.diff"));
      BOOST_TEST(run.result()["counts"].integer_at("tool_calls") == 3);
      BOOST_TEST(verify_run(run.out()).ok, verify_run(run.out()).problem);
      BOOST_TEST(!fs::exists(run.out() / "state"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_torn_last_record_is_cut_off_and_said_so) {
  const WaitingRun run;
  run.kill_in_command();
  std::ofstream(run.out() / "transcript.jsonl", std::ios::app) << "{\"seq\":99,\"ts\":\"2026";

  const ProgramEnd end = run.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(says(end, "its last record was torn, and is cut off"), end.errors);
  BOOST_TEST(verify_run(run.out()).ok);
}

BOOST_AUTO_TEST_CASE(a_run_without_state_or_checkpoint_begins_again_from_its_base) {
  const WaitingRun run;
  run.kill_in_command();
  const std::string before = run.artifact("transcript.jsonl");
  fs::remove_all(run.out() / "state");
  run.write_task(CassetteWriter().shell({"sh", "-c", "echo one >> a.txt"}).next().message("done"),
                 "policy: auto\n");

  const ProgramEnd other = run_program(run.plain_start());
  run.write_task(waiting_script(), "policy: auto\n");
  Program program(run.plain_start());
  BOOST_REQUIRE(wait_until(
      [&] { return fs::exists(run.path("out.prev/transcript.jsonl")) && run.written_twice(); }));

  BOOST_TEST(other.status == 2, other.errors);  // of another key, it is never moved aside
  BOOST_TEST(run.records("run.started").size() == 1u);
  BOOST_TEST(read_file(run.path("out.prev/transcript.jsonl")) == before);
}

BOOST_AUTO_TEST_CASE(a_changed_transcript_is_not_gone_on_with) {
  const WaitingRun run;
  run.kill_in_command();
  std::string text = read_file(run.out() / "transcript.jsonl");
  text.replace(text.find("echo one"), 8, "echo uno");
  write_file(run.out() / "transcript.jsonl", text);

  const ProgramEnd end = run_program(run.plain_start());

  BOOST_TEST(end.status == 8, end.errors);
}

BOOST_AUTO_TEST_CASE(an_unfinished_run_of_another_key_is_refused_with_what_differs) {
  const WaitingRun run("vars: {who: {default: me}}\n");
  run.kill_in_command();
  const std::string task = read_file(run.task());
  const struct {
    const char* what;
    std::vector<std::string> flags;
    std::string says;
  } rows[] = {
      {"variable", {"--var", "who=them"}, "the variable 'who'"},
      {"model", {"-m", "another"}, "the model (gpt-5-codex, now another)"},
      {"approval",
       {"--approval", "deny-by-default"},
       "the approval mode (full-auto, now deny-by-default)"},
      {"policy", {"--policy", "strict"}, "the policy"},
  };
  for (const auto& row : rows) {
    const ProgramEnd end = run_program(run.plain_start(row.flags));
    BOOST_TEST(end.status == 2, row.what << ": " << end.errors);
    BOOST_TEST(says(end, row.says), row.what << ": " << end.errors);
    BOOST_TEST(says(end, "--fresh discards it"), end.errors);
  }
  run.write("task.yaml", task + "max_findings: 1\n");
  run.write("task.yaml", task + "name: another\n");
  const ProgramEnd other = run_program(run.plain_start());
  BOOST_TEST(other.status == 2, other.errors);
  BOOST_TEST(says(other, "of another key: the task"), other.errors);
  run.write("task.yaml", task);
  BOOST_TEST(run.run().status == 0);
}

BOOST_AUTO_TEST_CASE(a_base_that_differs_is_named) {
  const struct {
    const char* what;
    std::function<void(const RunFolder&)> change;
    int status;
    std::string says;
  } rows[] = {
      {"an edit", [](const RunFolder& run) { run.write("work/b.txt", "mine\n"); }, 2, "b.txt"},
      {"a new file", [](const RunFolder& run) { run.write("work/new.txt", "mine\n"); }, 2,
       "new.txt"},
      {"a removed file", [](const RunFolder& run) { fs::remove(run.path("work/b.txt")); }, 2,
       "b.txt"},
      {"the same content again", [](const RunFolder& run) { run.write("work/b.txt", "b\n"); }, 0,
       ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      const WaitingRun run;
      run.kill_in_command();
      row.change(run);

      const ProgramEnd end = run_program(run.plain_start());

      BOOST_TEST(end.status == row.status, end.errors);
      if (row.status == 2)
        BOOST_TEST(says(end, "the workspace has changed in " + row.says), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_raised_budget_goes_on_from_code_4) {
  const ShortRun run;
  const ProgramEnd first = run_program(run.plain_start({"--max-turns", "1"}));
  BOOST_REQUIRE_MESSAGE(first.status == 4, first.errors);
  BOOST_TEST(fs::exists(run.out() / "state"));
  BOOST_TEST(fs::exists(run.out() / "partial.diff"));

  const ProgramEnd same = run_program(run.plain_start({"--max-turns", "1"}));
  BOOST_TEST(same.status == 4, same.errors);
  const ProgramEnd more = run.run({"--max-turns", "5"});

  BOOST_TEST(more.status == 0, more.errors);
  BOOST_TEST(run.records("tool.call").size() == 1u);
  BOOST_TEST(run.result()["counts"].integer_at("turns") == 2);
  BOOST_TEST(run.artifact("changes.diff").find("+one\n") != std::string::npos);
  BOOST_TEST(!fs::exists(run.out() / "partial.diff"));
  BOOST_TEST(verify_run(run.out()).ok, verify_run(run.out()).problem);
}

BOOST_AUTO_TEST_CASE(a_stopped_run_goes_on) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const WaitingRun run;
    Program program(run.plain_start());
    BOOST_REQUIRE(wait_until([&] {
      return fs::exists(run.out() / "transcript.jsonl") && run.records("tool.call").size() == 2;
    }));
    program.signal(signal);
    BOOST_REQUIRE(program.finish().status == 128 + signal);

    const ProgramEnd end = run.run();

    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(run.artifact("changes.diff").find("+three\n") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_stopped_run_that_is_killed_as_it_goes_on_is_a_valid_prefix) {
  const WaitingRun run;
  run.write_task(CassetteWriter()
                     .shell({"sh", "-c", "echo one >> a.txt"})
                     .next()
                     .shell({"sh", "-c", "exec sleep 1000"})
                     .next()
                     .shell({"sh", "-c", "exec sleep 1000"})
                     .next()
                     .message("done"),
                 "policy: auto\n");
  for (const int signal : {SIGTERM, SIGKILL}) {
    Program program(run.plain_start());
    const std::size_t starts = signal == SIGTERM ? 1 : 2;
    BOOST_REQUIRE(wait_until([&] {
      return fs::exists(run.out() / "transcript.jsonl") &&
             run.records("run.started").size() == starts &&
             run.records("tool.call").size() == starts + 1;
    }));
    if (signal == SIGKILL)
      BOOST_REQUIRE(wait_until([&] { return run.result().string_at("status") == "running"; }));
    program.signal(signal);
    program.finish();
  }

  const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", run.out().string()}});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output.find("the run is not finished") != std::string::npos, end.output);
}

BOOST_AUTO_TEST_CASE(a_finished_run_is_returned_while_its_tree_is_known) {
  const ShortRun run;
  BOOST_REQUIRE(run.run().status == 0);
  const std::string id = run.result().string_at("run_id");
  const std::string diff = run.path("d.diff").string();

  const ProgramEnd cached = run.again({"--diff", diff});
  BOOST_TEST(cached.status == 0, cached.errors);
  BOOST_TEST(cached.output == "done\n");
  BOOST_TEST(run.result()["cached"].boolean());
  const ProgramEnd verified =
      run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
  BOOST_TEST(verified.status == 0, verified.errors);
  BOOST_TEST(run.result().string_at("run_id") == id);
  BOOST_TEST(read_file(diff) == run.artifact("changes.diff"));

  // With its diff applied, it is at the recorded end.
  BOOST_REQUIRE(std::system(("git -C '" + run.workspace().string() + "' apply '" +
                             (run.out() / "changes.diff").string() + "'")
                                .c_str()) == 0);
  BOOST_TEST(run.again().status == 0);
  BOOST_TEST(run.result().string_at("run_id") == id);

  run.write("work/b.txt", "mine\n");
  BOOST_TEST(run.again().status == 0);
  BOOST_TEST(run.result().string_at("run_id") != id);
  BOOST_TEST(parse_json(read_file(run.path("out.prev/result.json"))).string_at("run_id") == id);
}

BOOST_AUTO_TEST_CASE(a_nightly_run_that_was_killed_heals_itself_with_the_commit_of_the_next_night) {
  const WaitingRun run;
  run.kill_in_command();
  run.write("work/b.txt", "of the day\n");
  run.commit_workspace();
  run.write_task(CassetteWriter().shell({"sh", "-c", "echo one >> a.txt"}).next().message("done"),
                 "policy: auto\n");
  const ProgramEnd other = run_program(run.plain_start());  // another task too
  BOOST_TEST(other.status == 2, other.errors);
  run.write_task(waiting_script(), "policy: auto\n");

  Program program(run.plain_start());
  BOOST_REQUIRE(wait_until(
      [&] { return fs::exists(run.path("out.prev/transcript.jsonl")) && run.written_twice(); }));
  program.signal(SIGTERM);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 143, end.errors);
  BOOST_TEST(says(end, "moved to OUT.prev, and the work begins anew: the HEAD commit ("),
             end.errors);
  BOOST_TEST(run.records("run.started").size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_a_patch_left_unfinished_is_no_part_of_the_diff) {
  const std::string left = ".sortie-0123456789abcdef.tmp";
  const std::string users = ".sortie-fedcba9876543210.tmp";
  for (const std::string isolation : {"overlay", "copy"}) {
    BOOST_TEST_CONTEXT(isolation) {
      const RunFolder run;
      run.write("work/a.txt", "a\n");
      run.write("work/b.txt", "b\n");
      run.write("work/" + users, "mine\n");
      run.commit_workspace();
      run.write_task(waiting_script());
      run.write("task.yaml",
                "version: 1\nprompt: Do it.\npolicy: auto\nworkspace: {path: work, isolation: " +
                    isolation + "}\nmodel: {provider: replay, cassette: cassette.jsonl}\n");
      Program program(run.plain_start());
      const fs::path tree = run.out() / (isolation == "overlay" ? "state/upper" : "state/tree");
      BOOST_REQUIRE(wait_until([&] {
        std::error_code error;
        return fs::exists(tree / "a.txt", error) && read_file(tree / "a.txt") == "a\none\ntwo\n";
      }));
      program.signal(SIGKILL);
      program.finish();
      write_file(tree / left, "a\nhal");

      const ProgramEnd end = run.run();

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const std::string diff = run.artifact("changes.diff");
      BOOST_TEST(diff.find(".sortie-") == std::string::npos, diff);
      BOOST_TEST(diff.find("+three\n") != std::string::npos, diff);
    }
  }
}

BOOST_AUTO_TEST_CASE(reuse_says_which_finished_runs_are_returned) {
  const ShortRun run;
  run.write_task(CassetteWriter().message("I could not."),
                 "policy: auto\nverify: {commands: ['false'], rounds: 0}\n");
  BOOST_REQUIRE(run_program(run.plain_start()).status == 1);
  const auto id = [&] { return run.result().string_at("run_id"); };
  const std::string first = id();

  BOOST_TEST(run_program(run.plain_start({"--reuse", "any"})).status == 1);
  BOOST_TEST(id() == first);
  BOOST_TEST(run_program(run.plain_start({"--reuse", "success"})).status == 1);
  BOOST_TEST(id() != first);
  const std::string second = id();
  BOOST_TEST(run_program(run.plain_start({"--reuse", "none"})).status == 1);
  BOOST_TEST(id() != second);
  BOOST_TEST(run_program(run.plain_start({"--reuse", "some"})).status == 2);
}

BOOST_AUTO_TEST_CASE(a_session_of_the_killed_process_is_lost) {
  const RunFolder run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  run.write_task(CassetteWriter()
                     .call("exec_command",
                           Json::object({{"cmd", "cat"}, {"yield_time_ms", 250}, {"tty", true}}))
                     .next()
                     .shell({"sh", "-c", "exec sleep 1000"})
                     .next()
                     .call("write_stdin", Json::object({{"session_id", 1}, {"chars", "x\n"}}))
                     .next()
                     .message("done"),
                 "policy: auto\nexpect: {changes: any}\n"
                 "tools: {enable: [exec_command, write_stdin, shell]}\n");
  Program program(run.plain_start());
  BOOST_REQUIRE(wait_until([&] {
    return fs::exists(run.out() / "transcript.jsonl") && run.records("tool.call").size() == 2;
  }));
  program.signal(SIGKILL);
  program.finish();

  const ProgramEnd end = run.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(run.output(2).find("session lost") != std::string::npos, run.output(2));
}

BOOST_AUTO_TEST_CASE(stages_that_were_done_are_not_done_again) {
  const RunFolder run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  run.write_task(CassetteWriter()
                     .message("the plan")
                     .shell({"sh", "-c", "echo two >> a.txt; exec sleep 1000"})
                     .next()
                     .shell({"sh", "-c", "echo three >> a.txt"})
                     .next()
                     .message("done")
                     .message("reviewed"));
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\npolicy: auto\n"
            "model: {provider: replay, cassette: cassette.jsonl}\n"
            "stages:\n  - {name: plan, prompt: Plan., save: plan.md}\n"
            "  - {name: work, prompt: Work.}\n  - {name: review, prompt: Review.}\n");
  Program program(run.plain_start());
  BOOST_REQUIRE(wait_until([&] {
    return fs::exists(run.out() / "state/upper/a.txt") && run.records("tool.call").size() == 1 &&
           read_file(run.out() / "state/upper/a.txt") == "a\ntwo\n";
  }));
  program.signal(SIGKILL);
  program.finish();

  const ProgramEnd end = run.run();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(run.records("stage.started").size() == 3u);
  BOOST_TEST(run.artifact("plan.md") == "the plan\n");
  BOOST_TEST(run.result()["artifacts"].find("plan.md") != nullptr);
  BOOST_TEST(run.artifact("last-message.txt") == "reviewed\n");
  BOOST_TEST(run.result()["stages"].items()[1].integer_at("turns") == 3);
  BOOST_TEST(verify_run(run.out()).ok, verify_run(run.out()).problem);
}

BOOST_AUTO_TEST_SUITE_END()
