// Several attempts at one task, against a server that answers each of them differently.

#include <signal.h>

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

}  // namespace

BOOST_AUTO_TEST_SUITE(best_of)

BOOST_AUTO_TEST_CASE(the_first_attempt_that_passes_is_picked_and_no_other_is_started) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", work_of("mark-two", good(3))},
                               {"mark-three", work_of("mark-three", good(1))}});
  const BestOfRun run("{count: 3}");

  const ProgramEnd end = run.run(server, {"--diff", run.path("d.diff").string()});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "done by mark-two\n");
  const Json result = run.result();
  BOOST_TEST(result.string_at("status") == "success");
  BOOST_TEST(result["best_of"].integer_at("picked") == 2);
  BOOST_TEST(result["best_of"].integer_at("turns") == 4);
  BOOST_REQUIRE(result["attempts"].items().size() == 3u);
  BOOST_TEST(run.attempt(1).string_at("status") == "task-failed");
  BOOST_TEST(!run.attempt(1)["verified"].boolean(true));
  BOOST_TEST(run.attempt(2)["picked"].boolean());
  BOOST_TEST(run.attempt(2)["verified"].boolean());
  BOOST_TEST(run.attempt(2).integer_at("lines") == 4);
  BOOST_TEST(run.attempt(2).integer_at("files") == 1);
  BOOST_TEST(run.attempt(3).string_at("status") == "not-started");
  BOOST_TEST(holds(run.attempt(3).string_at("why"), "attempt 2 had passed"));
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-two"));
  BOOST_TEST(read_file(run.path("d.diff")) == run.artifact("changes.diff"));
  BOOST_TEST(run.artifact("last-message.txt") == "done by mark-two\n");
  BOOST_TEST(read_file(run.path("work/a.txt")) == "a\n");
  BOOST_TEST(fs::exists(run.out() / "attempt-1/partial.diff"));
  BOOST_TEST(!fs::exists(run.out() / "attempt-3"));
  BOOST_TEST(holds(end.errors, "\nattempt 1 [1] "), end.errors);
  BOOST_TEST(holds(end.errors, "\nsortie: success (0): attempt 2 of 3: "), end.errors);
  BOOST_TEST(holds(end.errors, "\n2 attempts: 4 turns, "), end.errors);
  // The diff of the top, not that of the attempt.
  BOOST_TEST(holds(result.string_at("next"), "/changes.diff"), result.string_at("next"));
  BOOST_TEST(!holds(result.string_at("next"), "attempt-2"), result.string_at("next"));
  for (const char* folder : {"", "attempt-1", "attempt-2"}) run.check_verifies(run.out() / folder);
  BOOST_TEST(end.errors.ends_with("; see " + (run.out() / "summary.md").string() + "\n"),
             end.errors);
}

BOOST_AUTO_TEST_CASE(the_reports_at_the_top_tell_of_all_attempts) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", work_of("mark-two", good(3))},
                               {"mark-three", work_of("mark-three", good(1))}});
  const BestOfRun run("{count: 3}");
  BOOST_TEST(run.run(server).status == 0);
  const auto sortie_on = [&](const char* command, const fs::path& folder,
                             std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {sortie_binary(), command, folder.string()};
    argv.insert(argv.end(), more.begin(), more.end());
    return run_program({.argv = argv});
  };

  const ProgramEnd again = sortie_on("report", run.out(), {"-o", run.path("again").string()});

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(holds(run.artifact("summary.md"), "## 3 attempts\n"), run.artifact("summary.md"));
  BOOST_TEST(holds(run.artifact("summary.md"), "- 2, **picked**: success"));
  BOOST_TEST(holds(run.artifact("report.html"), "<section id=\"attempts\">"));
  for (const char* name : {"summary.md", "report.html"}) {
    BOOST_TEST((read_file(run.path("again") / name) == run.artifact(name)));
    BOOST_TEST(run.result()["artifacts"].find(name) != nullptr);
    BOOST_TEST(!fs::exists(run.out() / "attempt-2" / name));
    BOOST_TEST(holds(run.artifact("attestation.json"), name));
  }
  BOOST_TEST(sortie_on("report", run.out() / "attempt-1").status == 0);
  BOOST_TEST(sortie_on("verify", run.out()).status == 0);
  write_file(run.out() / "summary.md", "another\n");
  const ProgramEnd changed = sortie_on("verify", run.out());
  BOOST_TEST(changed.status == 8);
  BOOST_TEST(holds(changed.errors, "summary.md was changed"), changed.errors);
}

BOOST_AUTO_TEST_CASE(attempts_at_the_same_time_end_once_one_has_passed) {
  const ScriptedServer server({{"no-mark-1", silence()},
                               {"no-mark-2", silence()},
                               {"mark-three", work_of("mark-three", good(1))}});
  const BestOfRun run("{count: 3, parallel: 3}");

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 0, end.errors);
  const Json result = run.result();
  int stopped = 0;
  for (const Json& attempt : result["attempts"].items())
    stopped += attempt.string_at("status") == "stopped" ? 1 : 0;
  BOOST_TEST(stopped == 2);
  BOOST_TEST(holds(end.errors, "has passed: the others end"), end.errors);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-three"));
  for (const char* folder : {"", "attempt-1", "attempt-2", "attempt-3"})
    run.check_verifies(run.out() / folder);
}

BOOST_AUTO_TEST_CASE(the_smallest_diff_of_those_that_pass_is_picked_after_all_have_ended) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", good(9))},
                               {"mark-two", work_of("mark-two", good(2))},
                               {"mark-three", work_of("mark-three", "")}});
  const BestOfRun run("{count: 3, parallel: 2, pick: smallest-diff}");

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 0, end.errors);
  const Json result = run.result();
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-two"));
  const Json& picked = run.attempt(result["best_of"].integer_at("picked"));
  BOOST_TEST(picked.string_at("why") == "3 changed lines, the fewest of the 2 that passed");
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(where_none_passes_the_one_nearest_to_a_success_is_shown) {
  const ScriptedServer server({{"mark-one", {served_status(400, {}, "{\"error\":{}}")}},
                               {"mark-two", work_of("mark-two", "")}});
  const BestOfRun run("{count: 2}");

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 1, end.errors);
  const Json result = run.result();
  BOOST_TEST(result.string_at("status") == "task-failed");
  BOOST_TEST(run.attempt(1).string_at("status") == "refused");
  BOOST_TEST(run.attempt(2)["picked"].boolean());
  BOOST_TEST(holds(run.attempt(2).string_at("why"), "no attempt passed"));
  BOOST_TEST(!fs::exists(run.out() / "changes.diff"));
  BOOST_TEST(holds(run.artifact("partial.diff"), "+mark-two"));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(the_budget_is_for_the_sum_of_the_attempts) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", work_of("mark-two", good(1))},
                               {"mark-three", work_of("mark-three", good(1))}});
  const BestOfRun run("{count: 3}", "budget: {turns: 3}\n");

  const ProgramEnd end = run.run(server);

  BOOST_TEST(run.attempt(1).integer_at("turns") == 2);
  BOOST_TEST(run.attempt(2).integer_at("turns") == 1);
  BOOST_TEST(run.attempt(2).string_at("status") == "budget");
  BOOST_TEST(run.attempt(3).string_at("status") == "not-started");
  BOOST_TEST(holds(run.attempt(3).string_at("why"), "budget"));
  BOOST_TEST(run.result()["best_of"].integer_at("turns") == 3);
  BOOST_TEST(server.http().count("POST ") == 3u);
  BOOST_TEST(end.status == 1, end.errors);  // of the attempt that came to its verification
}

BOOST_AUTO_TEST_CASE(attempts_at_the_same_time_never_use_more_turns_than_the_sum_may) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", work_of("mark-two", "")},
                               {"mark-three", work_of("mark-three", "")},
                               {"mark-four", work_of("mark-four", "")}});
  const BestOfRun run("{count: 4, parallel: 4}", "budget: {turns: 5}\n");

  run.run(server);

  BOOST_TEST(server.http().count("POST ") == 5u);
  BOOST_TEST(run.result()["best_of"].integer_at("turns") == 5);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_all_attempts) {
  const ScriptedServer server({{"no-mark-1", silence()}, {"no-mark-2", silence()}});
  const BestOfRun run("{count: 3, parallel: 2}");
  Program program(run.start(server.url()));
  server.http().wait_for("POST ", 2);

  program.signal(SIGINT);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 130, end.errors);
  BOOST_TEST(run.result().string_at("status") == "interrupted");
  BOOST_TEST(run.attempt(1).string_at("status") == "interrupted");
  BOOST_TEST(run.attempt(2).string_at("status") == "interrupted");
  BOOST_TEST(run.attempt(3).string_at("status") == "not-started");
  BOOST_TEST(holds(end.errors, "\nsortie: interrupted (130): "), end.errors);
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(a_killed_attempt_is_one_that_failed) {
  const ScriptedServer server(
      {{"no-mark-1", silence()}, {"mark-two", work_of("mark-two", good(1))}});
  const BestOfRun run("{count: 2}");
  Program program(run.start(server.url()));
  server.http().wait_for("POST ");

  const auto attempts = attempts_of(program);
  BOOST_REQUIRE(attempts.size() == 1u);
  ::kill(attempts.front(), SIGKILL);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(run.attempt(1).string_at("status") == "killed");
  BOOST_TEST(holds(run.attempt(1).string_at("why"), "signal 9"));
  BOOST_TEST(run.attempt(1).integer_at("tokens") > 0);  // what its request may have cost
  BOOST_TEST(run.attempt(2)["picked"].boolean());
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(the_attempts_end_with_the_process_that_started_them) {
  const ScriptedServer server({{"no-mark-1", silence()}, {"no-mark-2", silence()}});
  const BestOfRun run("{count: 2, parallel: 2}");
  {
    Program program(run.start(server.url()));
    server.http().wait_for("POST ", 2);
    ::kill(program.pid(), SIGKILL);
    server.http().wait_for_closed(2);
  }
  BOOST_TEST(wait_until([&] { return !processes_with(run.task().string()).size(); }));
  const Json result = parse_json(run.artifact("result.json"));
  BOOST_TEST(result.string_at("status") == "running");
}

BOOST_AUTO_TEST_CASE(an_altered_comparison_is_named) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(3))}});
  const BestOfRun run("{count: 2}");
  BOOST_REQUIRE(run.run(server).status == 0);
  const std::string result = run.artifact("result.json");
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } rows[] = {{"\"lines\": 4", "\"lines\": 3", "attempts: lines of attempt 2 is 3"},
              {"\"status\": \"task-failed\"", "\"status\": \"success\"", "status of attempt 1"}};
  for (const auto& row : rows) {
    std::string altered = result;
    const std::size_t at = altered.find(row.from);
    BOOST_REQUIRE(at != std::string::npos);
    altered.replace(at, std::string(row.from).size(), row.to);
    write_file(run.out() / "result.json", altered);
    const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
    BOOST_TEST(end.status == 8, row.says);
    BOOST_TEST(holds(end.errors, row.says), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(attempts_do_not_see_each_others_folders) {
  CassetteWriter look;
  look.shell({"sh", "-c", "echo mark-one > a.txt; ls -A sortie-out; ls sortie-out/attempt-2"});
  CassetteWriter other;
  other.shell({"sh", "-c", "echo mark-two > a.txt; ls -A sortie-out; cat sortie-out/*/*"});
  const ScriptedServer server({{"mark-one", served(look.next().message("done"))},
                               {"mark-two", served(other.next().message("done"))}});
  const BestOfRun run("{count: 2}");

  const ProgramEnd end = run.run(server, {"--out", run.path("work/sortie-out").string()});

  BOOST_TEST(end.status == 1, end.errors);
  for (const char* name : {"attempt-1", "attempt-2"}) {
    const std::string transcript =
        read_file(run.path("work/sortie-out") / name / "transcript.jsonl");
    BOOST_TEST(!holds(transcript, "attempt-1\\nattempt-2"), name);
    BOOST_TEST(!holds(transcript, "\"output\":\"attempt-"), name);
    const std::string diff = read_file(run.path("work/sortie-out") / name / "partial.diff");
    BOOST_TEST(!holds(diff, "sortie-out"), diff);
  }
}

BOOST_AUTO_TEST_CASE(a_key_from_a_descriptor_reaches_every_attempt) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(1))}});
  const BestOfRun run("{count: 2}");
  ProgramStart start = run.start(server.url(), {"--api-key-fd", "0"});
  start.input = "sk-of-the-descriptor-0123456789";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  for (const auto& header : server.http().headers("POST ", "Authorization"))
    BOOST_TEST(header == "Bearer sk-of-the-descriptor-0123456789");
}

BOOST_AUTO_TEST_CASE(a_second_run_moves_the_attempts_of_the_first_away) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", work_of("mark-two", good(3))},
                               {"mark-three", work_of("mark-three", good(1))}});
  const BestOfRun run("{count: 2}");
  BOOST_REQUIRE(run.run(server).status == 0);

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-three"));
  BOOST_TEST(!fs::exists(run.out() / "attempt-2"));
  BOOST_TEST(fs::exists(run.path("out.prev") / "attempt-2/changes.diff"));
}

BOOST_AUTO_TEST_CASE(what_does_not_go_together_is_said_at_once) {
  const struct {
    const char* best_of;
    std::vector<std::string> flags;
    int code;
    const char* says;
  } rows[] = {
      {"{count: 0}", {}, 2, "count"},
      {"{count: 17}", {}, 2, "16"},
      {"{count: 2, pick: best}", {}, 2, "first-passing"},
      {"{count: 1}", {"--best-of", "0"}, 2, "--best-of"},
      {"{count: 2}",
       {"--isolation", "none"},
       2,
       "error: best_of.count: the isolation none has one"},
      {"{count: 1}", {"--best-of", "2", "--isolation", "none"}, 2, "use auto, overlay or copy"},
      {"{count: 2, parallel: 3}", {"--replay", "nothing.jsonl"}, 2, "nothing.jsonl"},
  };
  for (const auto& row : rows) {
    const BestOfRun run(row.best_of);
    ProgramStart start = run.plain_start(row.flags);
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == row.code, end.errors);
    BOOST_TEST(holds(end.errors, row.says), end.errors);
    BOOST_TEST(!fs::exists(run.out()));
  }
}

BOOST_AUTO_TEST_CASE(the_check_of_a_task_warns_of_attempts_that_nothing_judges) {
  const struct {
    const char* task;
    const char* says;
  } rows[] = {{"best_of: {count: 2}\n", "best_of: without verify"},
              {"best_of: {parallel: 4}\n", "best_of.parallel: 4 is more than the 1 attempt"},
              {"best_of: {count: 2, parallel: 4}\nverify: ['true']\n", "more than the 2 attempts"}};
  for (const auto& row : rows) {
    const ProviderRun run;
    run.write_task({}, row.task);
    const ProgramEnd end =
        run_program({.argv = {sortie_binary(), "task", "check", run.task().string()}});
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(holds(end.errors, row.says), end.errors);
  }
}

BOOST_AUTO_TEST_SUITE_END()
