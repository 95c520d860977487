// Batches: many runs as processes, against one server.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json_schema.h"
#include "tests/end_to_end/batch_run.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

}  // namespace

BOOST_AUTO_TEST_SUITE(batch)

BOOST_AUTO_TEST_CASE(each_run_ends_in_a_folder_of_its_own_and_is_not_paid_again) {
  CountingServer server;
  const BatchFolders folders;
  folders.write_manifest(3);

  const ProgramEnd end = run_program(folders.batch(server.url(), {"--jobs", "2"}));

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(end.output.empty());
  BOOST_TEST(has(end.errors, "\nsortie: success (0): 3 of 3 runs succeeded; see "), end.errors);
  BOOST_REQUIRE(folders.rows().size() == 3u);
  const Json schema = batch_result_schema();
  for (const BatchRow& row : folders.rows()) {
    BOOST_TEST(row.status == "success");
    BOOST_TEST(row.verified.value_or(false));
    BOOST_TEST(row.turns == 2);
    BOOST_TEST(row.tokens == 220);
    BOOST_TEST(row.attempts == 1);
    BOOST_TEST(row.diff == "runs/" + row.name + "/changes.diff");
    BOOST_TEST(has(read_file(folders.dir() / row.diff), "+good " + row.name + "\n"));
    BOOST_TEST(has(read_file(folders.dir() / "logs" / (row.name + ".log")), "sortie: success (0)"));
  }
  for (const char* name : {"summary.md", "report.html"})
    BOOST_TEST(has(read_file(folders.dir() / name), "runs/run-2/"));
  check_paid_once(server, 3);

  const ProgramEnd again = run_program(folders.batch(server.url(), {"--jobs", "2"}));

  BOOST_TEST(again.status == 0, again.errors);
  check_paid_once(server, 3);
}

BOOST_AUTO_TEST_CASE(a_failure_ends_the_batch_unless_it_keeps_going) {
  CountingServer server;
  server.fail("run-1");
  const BatchFolders folders;
  folders.write_manifest(3);

  const ProgramEnd end = run_program(folders.batch(server.url(), {"--jobs", "1"}));

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(folders.row("run-1").status == "task-failed");
  BOOST_TEST(folders.row("run-2").status == "not-started");
  BOOST_TEST(has(end.errors, "0 of 3 runs succeeded; 1 failed: run-1; 2 not started"), end.errors);

  const ProgramEnd on = run_program(folders.batch(server.url(), {"--jobs", "1", "--keep-going"}));

  BOOST_TEST(on.status == 1, on.errors);
  BOOST_TEST(folders.row("run-3").status == "success");
  // What failed for good is not paid again either.
  check_paid_once(server, 3);
}

BOOST_AUTO_TEST_CASE(a_provider_that_refuses_slows_all_and_no_run_fails) {
  CountingServer server;
  server.refuse(3);
  const BatchFolders folders;
  folders.write_manifest(4, "retry: {attempts: 9, wait: 10ms, max_wait: 100ms}\n");

  const ProgramEnd end = run_program(folders.batch(server.url(), {"--jobs", "4"}));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(has(end.errors, "is started again"), end.errors);
  check_paid_once(server, 4);
}

BOOST_AUTO_TEST_CASE(one_budget_holds_for_all_runs) {
  CountingServer server;
  const BatchFolders folders;
  folders.write_manifest(4, "budget: {tokens: 300}\n");
  folders.write("task.yaml", read_file(folders.task()) + "budget: {tokens: 100000}\n");

  const ProgramEnd end = run_program(folders.batch(server.url(), {"--jobs", "4"}));

  // One had all that was left, which no request fits into; the others were not started.
  BOOST_TEST(end.status == 4, end.errors);
  int started = 0;
  for (const BatchRow& row : folders.rows()) {
    BOOST_TEST(row.status == "budget");
    started += row.attempts;
  }
  BOOST_TEST(started == 1);
  BOOST_TEST(server.requests() == 0);

  const ProgramEnd more =
      run_program(folders.batch(server.url(), {"--jobs", "4", "--max-tokens", "150000"}));

  BOOST_TEST(more.status == 0, more.errors);
  check_paid_once(server, 4);
}

BOOST_AUTO_TEST_CASE(shards_share_a_folder_and_are_merged) {
  CountingServer server;
  const BatchFolders folders;
  folders.write_manifest(5);
  const auto report = [&] {
    return run_program({.argv = {sortie_binary(), "batch", "report", folders.dir().string()}});
  };

  const ProgramEnd first = run_program(folders.batch(server.url(), {"--shard", "1/2"}));
  BOOST_TEST(first.status == 0, first.errors);
  const ProgramEnd early = report();
  BOOST_TEST(early.status == 1);
  BOOST_TEST(has(early.errors, "2 missing: run-2, run-4"), early.errors);
  ProgramStart array = folders.batch(server.url(), {"--shard", "auto"});
  array.environment = {{"SLURM_ARRAY_TASK_ID", "1"},
                       {"SLURM_ARRAY_TASK_MIN", "0"},
                       {"SLURM_ARRAY_TASK_MAX", "1"},
                       {"SLURM_ARRAY_TASK_COUNT", "2"},
                       {"SORTIE_BASE_URL", server.url()}};
  const ProgramEnd second = run_program(array);
  BOOST_TEST(second.status == 0, second.errors);
  const ProgramEnd merged = report();

  BOOST_TEST(merged.status == 0, merged.errors);
  BOOST_TEST(folders.rows("results-1-of-2.jsonl").size() == 3u);
  BOOST_TEST(folders.rows("results-2-of-2.jsonl").size() == 2u);
  BOOST_TEST(folders.rows().size() == 5u);
  BOOST_TEST(folders.row("run-2").shard == "2/2");
  check_paid_once(server, 5);
}

BOOST_AUTO_TEST_CASE(instances_and_commits_of_a_repository_become_runs_and_predictions) {
  CountingServer server;
  const BatchFolders folders;
  folders.write("work/later.txt", "the answer\n");
  const std::string base = git(folders.workspace(), {"rev-parse", "HEAD"}).substr(0, 40);
  folders.commit_workspace();
  folders.write("instances.jsonl",
                "{\"instance_id\": \"demo__one-1\", \"run\": \"run-1\", \"base_commit\": \"" +
                    base +
                    "\", \"problem\": \"line one\\nline two <untrusted>\", \"patch\": \"gold\"}\n");
  folders.write(
      "task.yaml",
      "version: 1\nprompt: 'mark:{{run}} . {{problem}}'\npolicy: auto\n"
      "vars: {run: {trusted: true}, problem: {}}\n"
      "verify: {commands: ['test ! -e later.txt', 'test $(git rev-list --all --count) = 1'], rounds: 0}\n");
  folders.write("batch.yaml",
                "version: 1\ntasks: [task.yaml]\ninstances: instances.jsonl\n"
                "workspaces: [{git: work, commit: '{{base_commit}}'}]\npredictions: preds.jsonl\n");

  const ProgramEnd end = run_program(folders.batch(server.url()));

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const Json prediction = parse_json(read_file(folders.dir() / "preds.jsonl"));
  BOOST_TEST(prediction.string_at("instance_id") == "demo__one-1");
  BOOST_TEST(prediction.string_at("model_name_or_path") == "gpt-5-codex");
  BOOST_TEST(prediction.string_at("model_patch") ==
             read_file(folders.dir() / "runs/demo__one-1/changes.diff"));
  const ProgramEnd again = run_program(folders.batch(server.url()));
  BOOST_TEST(again.status == 0, again.errors);
  check_paid_once(server, 1);
}

BOOST_AUTO_TEST_CASE(depth_says_how_much_history_a_checkout_has) {
  CountingServer server;
  const BatchFolders folders;
  for (const char* text : {"a\n1\n", "a\n2\n", "a\n3\n"}) {
    folders.write("work/a.txt", text);
    folders.commit_workspace();
  }
  const std::string all = git(folders.workspace(), {"rev-list", "--count", "HEAD"});
  const struct {
    const char* depth;
    int commits;
  } rows[] = {{"", std::stoi(all)}, {", depth: 1", 1}, {", depth: 2", 2}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT("workspace with git" << row.depth) {
      folders.write("task.yaml",
                    "version: 1\nprompt: 'Do it, mark:{{run}} .'\npolicy: auto\n"
                    "vars: {run: {required: true, trusted: true}}\nmodel: {retries: 0}\n"
                    "verify: {commands: ['test $(git rev-list --count HEAD) = " +
                        std::to_string(row.commits) + "'], rounds: 0}\n");
      folders.write("batch.yaml",
                    "version: 1\ntasks: [task.yaml]\nname: '{{run}}'\nvars: [{run: run-1}]\n"
                    "workspaces: [{git: work" +
                        std::string(row.depth) + "}]\n");

      const ProgramEnd end = run_program(folders.batch(server.url(), {"--fresh"}));

      BOOST_TEST(end.status == 0, end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stopped_batch_ends_with_its_runs_and_the_same_command_goes_on) {
  const BatchFolders folders;
  folders.write_manifest(2);
  {
    LoopbackHttp silent([](const ReceivedRequest&) {
      return ServedResponse{.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
                            .then = ServedResponse::Then::hang};
    });
    for (const auto& [number, code] : {std::pair(SIGTERM, 143), std::pair(SIGKILL, 137)}) {
      Program program(folders.batch(silent.url("/v1"), {"--jobs", "2"}));
      silent.wait_for("POST", number == SIGTERM ? 2 : 4);
      const std::vector<pid_t> runs = runs_of(program.pid());
      ::kill(program.pid(), number);
      const ProgramEnd end = program.finish();
      BOOST_TEST(end.status == code, end.errors);
      BOOST_TEST(runs.size() == 2u);
      for (const pid_t run : runs) BOOST_TEST(wait_until([&] { return ::kill(run, 0) != 0; }));
    }
  }
  CountingServer server;

  const ProgramEnd end = run_program(folders.batch(server.url(), {"--jobs", "2"}));

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(two_batches_in_one_folder_are_one_too_many) {
  const BatchFolders folders;
  folders.write_manifest(1);
  LoopbackHttp silent([](const ReceivedRequest&) {
    return ServedResponse{.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
                          .then = ServedResponse::Then::hang};
  });
  Program program(folders.batch(silent.url("/v1")));
  silent.wait_for("POST");

  const ProgramEnd second = run_program(folders.batch(silent.url("/v1")));

  BOOST_TEST(second.status == 12, second.errors);
  program.signal(SIGINT);
  BOOST_TEST(program.finish().status == 130);
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_wrong_starts_nothing) {
  const struct {
    const char* manifest;
    std::vector<std::string> flags;
    const char* error;
  } rows[] = {
      {"version: 1\ntask: [task.yaml]\n",
       {},
       "unknown key 'task' in manifest; did you mean 'tasks'?"},
      {"version: 1\ntasks: [none.yaml]\n", {}, "none.yaml"},
      {"version: 1\ntasks: [task.yaml]\nvars: [{rum: x}]\n",
       {},
       "no task declares a variable 'rum'; did you mean 'run'?"},
      {"version: 1\ntasks: [task.yaml]\nworkspaces: [nowhere]\n", {}, "nowhere"},
      {"version: 1\ntasks: [task.yaml]\nname: '{{rum}}'\nvars: [{run: x}]\n",
       {},
       "no variable 'rum' in this run; did you mean 'run'?"},
      {"version: 1\ntasks: [task.yaml]\n", {"--shard", "0/2"}, "shards are counted from 1"},
      {"version: 1\ntasks: [task.yaml]\n", {"--shard", "auto"}, "SLURM_ARRAY_TASK_ID"},
      {"version: 1\ntasks: [task.yaml]\n", {"--jobs", "many"}, "or auto"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.error) {
      const BatchFolders folders;
      folders.write("batch.yaml", row.manifest);

      const ProgramEnd end = run_program(folders.batch("http://127.0.0.1:9/v1", row.flags));

      BOOST_TEST(end.status == 2);
      BOOST_TEST(has(end.errors, row.error), end.errors);
      BOOST_TEST(!fs::exists(folders.dir()));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
