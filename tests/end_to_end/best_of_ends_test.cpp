// What several attempts at one task leave, and what they must not do to each other.

#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/end_to_end/best_of_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// A command, then the end.
std::vector<ServedResponse> command_of(const std::string& mark, const std::string& script) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo " + mark + "; " + script});
  return served(cassette.next().message("done by " + mark));
}

/// A file system of its own for --out, for as long as the object lives.
struct SmallDisk {
  explicit SmallDisk(const fs::path& place) : path(place.string()) { fs::create_directory(place); }
  ~SmallDisk() { ::umount2(path.c_str(), MNT_DETACH); }
  bool mount(const std::string& size, unsigned long flags = 0) const {
    return ::mount("none", path.c_str(), "tmpfs", flags, ("size=" + size).c_str()) == 0;
  }
  std::string path;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(best_of_ends)

BOOST_AUTO_TEST_CASE(the_diff_of_the_picked_attempt_alone_is_applied) {
  const ScriptedServer server(
      {{"mark-one", command_of("mark-one", "echo bad > a.txt; echo bad > one.txt")},
       {"mark-two", command_of("mark-two", "echo good >> a.txt; mv b.txt c.txt")}});
  const BestOfRun run("{count: 2}");
  run.write("work/b.txt", "1\n2\n3\n");
  run.commit_workspace();

  const ProgramEnd end = run.run(server, {"--apply"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(run.path("work/a.txt")) == "a\ngood\n");
  BOOST_TEST(read_file(run.path("work/c.txt")) == "1\n2\n3\n");
  BOOST_TEST(!fs::exists(run.path("work/b.txt")));
  BOOST_TEST(!fs::exists(run.path("work/one.txt")));
  const Json result = run.result();
  BOOST_TEST(result["applied"].boolean());
  BOOST_TEST(result["applied_paths"].items().size() == 3u);
  BOOST_TEST(result.string_at("next").starts_with("look at the changes in "));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(a_diff_that_can_not_be_applied_is_no_success_and_stays_with_its_attempt) {
  std::string mine;
  std::vector<Script> scripts = {
      {"mark-one", command_of("mark-one", "echo good > a.txt; mv b.txt c.txt")}};
  // While the last response is under way.
  scripts[0].before_last = [&mine] { write_file(mine, "of the user\n"); };
  const ScriptedServer server(scripts);
  const BestOfRun run("{count: 2}");
  run.write("work/b.txt", "1\n2\n3\n");
  run.commit_workspace();
  mine = run.path("work/b.txt").string();

  const ProgramEnd end = run.run(server, {"--apply", "--diff", run.path("d.diff").string()});

  BOOST_TEST(end.status == 13, end.errors);
  BOOST_TEST(read_file(run.path("work/a.txt")) == "a\n");
  BOOST_TEST(read_file(mine) == "of the user\n");
  BOOST_TEST(!fs::exists(run.out() / "changes.diff"));
  BOOST_TEST(!fs::exists(run.out() / "attestation.json"));
  BOOST_TEST(!fs::exists(run.path("d.diff")));
  BOOST_TEST(run.result().string_at("status") == "conflict");
}

BOOST_AUTO_TEST_CASE(no_attempt_begins_on_another_base) {
  std::string mine;
  std::vector<Script> scripts = {{"mark-one", work_of("mark-one", "")},
                                 {"mark-two", work_of("mark-two", good(1))}};
  scripts[0].before_last = [&mine] { write_file(mine, "of the user\n"); };
  const ScriptedServer server(scripts);
  const BestOfRun run("{count: 2}");
  run.write("work/b.txt", "b\n");
  run.commit_workspace();
  mine = run.path("work/b.txt").string();

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(server.begun() == 1u);
  BOOST_TEST(run.attempt(2).string_at("status") == "not-started");
  BOOST_TEST(holds(run.attempt(2).string_at("why"),
                   "the workspace has changed since the first attempt began, in b.txt"),
             run.attempt(2).string_at("why"));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(an_attempt_can_not_harm_the_others_or_the_users_tree) {
  const std::string harm =
      "kill -9 -1; for p in /proc/[0-9]*; do test $p = /proc/$$ || kill -9 ${p#/proc/}; done; "
      "for f in \"$OUT\" \"$OUT/attempt-1\" \"$OUT/attempt-2\"; do "
      "rm -rf $f/*; mkdir -p $f; echo '{}' > $f/result.json; done; "
      "rm -rf ../work/b.txt; ls -A \"$OUT\"; true";
  const BestOfRun run("{count: 2, parallel: 2}");
  run.write("work/b.txt", "b\n");
  run.commit_workspace();
  const std::string here = "OUT=" + run.out().string() + "; ";
  const ScriptedServer server(
      {{"mark-one", command_of("mark-one", here + harm)},
       {"mark-two", command_of("mark-two", here + harm + "; echo good >> a.txt")}});

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(run.path("work/b.txt")) == "b\n");
  BOOST_TEST(read_file(run.path("work/a.txt")) == "a\n");
  for (const char* folder : {"", "attempt-1", "attempt-2"}) run.check_verifies(run.out() / folder);
}

BOOST_AUTO_TEST_CASE(an_attempt_that_starts_shows_its_keys_to_no_command_of_another) {
  const std::string key = "s3cr3t-of-all-attempts";
  const std::string look =
      "i=0; while test $i -lt 60; do grep -las s3cr3t-of-all /proc/[0-9]*/environ; i=$((i+1)); done; "
      "true";
  for (const Caller& caller : all_callers()) {
    if (::geteuid() == 0 && !caller.uid) continue;  // root may read all
    for (const bool sandbox : {true, false}) {
      BOOST_TEST_CONTEXT(caller.name << (sandbox ? "" : ", without a sandbox")) {
        const ScriptedServer server({{"mark-one", command_of("mark-one", look)},
                                     {"mark-two", command_of("mark-two", "true")},
                                     {"mark-three", command_of("mark-three", "true")},
                                     {"mark-four", command_of("mark-four", "true")}});
        const BestOfRun run("{count: 4, parallel: 2}");
        std::string task = read_file(run.task());
        if (!sandbox) task.replace(task.find("policy: auto"), 12, "policy: unsandboxed");
        run.write("task.yaml", task);
        give_to(run.path(""), caller.uid);
        ProgramStart start = as_caller(caller, run.start(server.url()));
        start.environment["OPENAI_API_KEY"] = key;

        const ProgramEnd end = run_program(start);

        BOOST_TEST(end.status == 1, end.errors);
        BOOST_TEST(server.begun() == 4u, end.errors);
        std::string outputs;
        for (int number = 1; number <= 4; ++number)
          outputs += run.artifact("attempt-" + std::to_string(number) + "/transcript.jsonl");
        BOOST_TEST(!holds(outputs, "/environ\\n"), outputs);
        BOOST_TEST(holds(outputs, "\"tool.output\""));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(requests_under_way_never_cost_more_than_the_budget_together) {
  const ScriptedServer server({{"no-mark-1", silence()},
                               {"no-mark-2", silence()},
                               {"no-mark-3", silence()},
                               {"no-mark-4", silence()}});
  const BestOfRun run("{count: 4, parallel: 4}");
  // One request may take more than 2 USD: 2,048 tokens of output, and its input.
  run.write_task("max_output_tokens: 2048, price: {input: 1000, output: 1000}",
                 "verify: {commands: ['true']}\nbest_of: {count: 4, parallel: 4}\n"
                 "budget: {cost: 12}\n");
  Program program(run.start(server.url()));
  const auto over = [&](int number) {
    const fs::path file = run.out() / ("attempt-" + std::to_string(number)) / "result.json";
    std::error_code error;
    return fs::exists(file, error) && parse_json(read_file(file)).string_at("status") == "budget";
  };
  // Those that find no money left end at once; the others wait for the server.
  BOOST_TEST(wait_until([&] {
    int ended = 0;
    for (int number = 1; number <= 4; ++number) ended += over(number) ? 1 : 0;
    return ended + server.begun() == 4 && ended > 0;
  }));
  program.signal(SIGTERM);
  const ProgramEnd end = program.finish();
  BOOST_REQUIRE_MESSAGE(fs::exists(run.out() / "result.json"), end.errors);

  double most = 0;
  for (int number = 1; number <= 4; ++number)
    most += run.attempt(number)["cost_usd"].real().value_or(0);
  BOOST_TEST(most <= 12);
  BOOST_TEST(server.begun() < 4u);
  BOOST_TEST(server.begun() >= 1u);
}

BOOST_AUTO_TEST_CASE(the_time_is_over_for_all_attempts_at_once) {
  const ScriptedServer server({{"no-mark-1", silence()}, {"no-mark-2", silence()}});
  const BestOfRun run("{count: 3, parallel: 2}", "budget: {time: 3s}\n");

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 4, end.errors);
  BOOST_TEST(run.attempt(1).string_at("status") == "budget");
  BOOST_TEST(run.attempt(2).string_at("status") == "budget");
  BOOST_TEST(run.attempt(3).string_at("status") == "not-started");
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(attempts_that_were_all_killed_go_on_with_the_same_command) {
  std::vector<ServedResponse> waits = work_of("mark-one", good(1));
  waits.insert(waits.begin() + 1, silence().front());
  const ScriptedServer server({{"mark-one", waits}, {"no-mark-2", silence()}});
  const BestOfRun run("{count: 2, parallel: 2}");
  {
    Program program(run.start(server.url()));
    server.http().wait_for("POST ", 3);
    for (const pid_t attempt : attempts_of(program)) ::kill(attempt, SIGKILL);
    const ProgramEnd end = program.finish();
    BOOST_TEST(end.status == 7, end.errors);
    BOOST_TEST(run.result()["retryable"].boolean());
    BOOST_TEST(holds(end.errors, "was killed by signal 9"), end.errors);
  }

  const ProgramEnd end = run.run(server, {"--reuse", "success"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-one"));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(the_diff_on_stdout_and_the_recording_are_those_of_the_picked_attempt) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(3))}});
  const BestOfRun run("{count: 2}");
  const std::string recording = run.path("r.jsonl").string();
  ProgramStart start = run.start(server.url());
  start.shows_events = false;
  std::erase(start.argv, "--json");
  start.argv.insert(start.argv.end(), {"--diff", "-", "--record", recording});

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == run.artifact("changes.diff"));
  BOOST_TEST(holds(read_file(recording), "mark-two"));
  BOOST_TEST(holds(read_file(recording + ".attempt-1"), "mark-one"));
  BOOST_TEST(!fs::exists(recording + ".attempt-2"));
}

BOOST_AUTO_TEST_CASE(a_replay_of_the_folder_is_one_of_the_picked_attempt) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(3))}});
  const BestOfRun run("{count: 2}");
  BOOST_REQUIRE(run.run(server).status == 0);
  for (const char* folder : {"", "attempt-1", "attempt-2"}) {
    const ProgramEnd end =
        run_program({.argv = {sortie_binary(), "replay", (run.out() / folder).string()},
                     .folder = run.path(".")});
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(holds(end.output, "replay: equal: "), end.output);
  }
}

BOOST_AUTO_TEST_CASE(verify_names_the_attempt_whose_files_were_changed) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(3))}});
  const BestOfRun run("{count: 2}");
  BOOST_REQUIRE(run.run(server).status == 0);
  const struct {
    const char* file;
    const char* from;
    const char* to;
    const char* says;
  } rows[] = {{"attempt-1/transcript.jsonl", "mark-one", "mark-won", "attempt-1: "},
              {"attempt-1/partial.diff", "mark-one", "mark-won", "attempt-1: "},
              {"attestation.json", "\"first-passing\"", "\"smallest-diff\"", "attestation.json"},
              {"result.json", "\"next\": \"git", "\"next\": \"got", "digests.attempts"},
              {"result.json", "\"parallel\": 1", "\"parallel\": 2", "digests.attempts"}};
  for (const auto& row : rows) {
    const std::string text = run.artifact(row.file);
    std::string altered = text;
    const std::size_t at = altered.find(row.from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, row.from);
    altered.replace(at, std::string(row.from).size(), row.to);
    write_file(run.out() / row.file, altered);
    const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
    BOOST_TEST(end.status == 8, row.says);
    BOOST_TEST(holds(end.errors, row.says), end.errors);
    write_file(run.out() / row.file, text);
  }
}

BOOST_AUTO_TEST_CASE(verify_names_a_compared_attempt_whose_transcript_is_gone_or_cut_off) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(3))}});
  const BestOfRun run("{count: 2}");
  BOOST_REQUIRE(run.run(server).status == 0);
  const std::string file = "attempt-1/transcript.jsonl";
  const std::string text = run.artifact(file);
  const auto problem = [&] {
    const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
    BOOST_TEST(end.status == 8, end.output);
    return end.errors;
  };

  fs::remove(run.out() / file);
  const std::string removed = problem();
  BOOST_TEST(holds(removed, "attempt-1: transcript.jsonl is missing"), removed);
  write_file(run.out() / file, text.substr(0, 100));
  const std::string cut_off = problem();
  BOOST_TEST(holds(cut_off, "attempt-1: transcript.jsonl holds no whole record"), cut_off);
  write_file(run.out() / file, "");
  BOOST_TEST(holds(problem(), "attempt-1: transcript.jsonl holds no whole record"));
}

BOOST_AUTO_TEST_CASE(a_run_with_an_attempt_that_was_killed_before_its_first_record_verifies) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", good(1))}, {"mark-two", work_of("mark-two", good(2))}});
  const BestOfRun run("{count: 2, parallel: 2}");
  Program program(run.start(server.url()));
  BOOST_REQUIRE(wait_until([&] { return attempts_of(program).size() == 2; }));
  ::kill(attempts_of(program).back(), SIGKILL);
  const ProgramEnd end = program.finish();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_REQUIRE(run.attempt(2).string_at("status") == "killed");
  BOOST_REQUIRE(run.attempt(2).integer_at("turns") == 0);
  run.check_verifies(run.out());

  // As much of it as a kill may leave.
  const std::string record = run.artifact("attempt-1/transcript.jsonl");
  fs::create_directories(run.out() / "attempt-2");
  Json begun = parse_json(run.artifact("attempt-1/result.json"));
  begun.set("status", "running");
  write_file(run.out() / "attempt-2/result.json", write_json_pretty(begun));
  for (const std::size_t bytes : {0u, 1u, 20u, 500u}) {
    write_file(run.out() / "attempt-2/transcript.jsonl", record.substr(0, bytes));
    run.check_verifies(run.out());
  }
  const ProgramEnd told = run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
  BOOST_TEST(holds(told.output, "killed before its first record: attempt-2"), told.output);

  // Anything else is no record that was begun.
  write_file(run.out() / "attempt-2/transcript.jsonl", "work\n");
  const ProgramEnd other = run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
  BOOST_TEST(other.status == 8, other.output);
  BOOST_TEST(holds(other.errors, "attempt-2: "), other.errors);
}

BOOST_AUTO_TEST_CASE(on_a_full_disk_nothing_is_torn_and_room_lets_it_go_on) {
  if (::geteuid() != 0) return;  // only root may mount
  for (const char* size : {"40k", "120k", "160k", "200k", "240k", "280k"}) {
    BOOST_TEST_CONTEXT(size) {
      const ScriptedServer server({{"mark-one", work_of("mark-one", good(400))},
                                   {"mark-two", work_of("mark-two", good(400))},
                                   {"mark-three", work_of("mark-three", good(400))}});
      const BestOfRun run("{count: 2}");
      const SmallDisk disk(run.path("disk"));
      if (!disk.mount(size)) return;
      const std::string out = disk.path + "/out";
      const ProgramEnd first = run.run(server, {"--out", out, "--reuse", "success"});
      if (first.status != 0) {
        BOOST_TEST((first.status == 7 || first.status == 2), first.errors);
        BOOST_TEST(!fs::exists(fs::path(out) / "changes.diff"));
        BOOST_TEST(!fs::exists(fs::path(out) / "attestation.json"));
      }
      BOOST_REQUIRE(disk.mount("16m", MS_REMOUNT));
      const ProgramEnd end = run.run(server, {"--out", out, "--reuse", "success"});
      BOOST_TEST(end.status == 0, first.errors + "\n-- then:\n" + end.errors);
      if (end.status == 0) run.check_verifies(out);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
