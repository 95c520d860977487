// The same command again, for several attempts at one task.

#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/best_of_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// Two turns, of which the second is not answered at once.
std::vector<ServedResponse> interrupted_work_of(const std::string& mark, const std::string& lines) {
  std::vector<ServedResponse> responses = work_of(mark, lines);
  responses.insert(responses.begin() + 1, silence().front());
  return responses;
}

struct AgainRun : BestOfRun {
  using BestOfRun::BestOfRun;
  ProgramEnd again(const ScriptedServer& server, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--reuse", "success"});
    return run(server, flags);
  }
  std::size_t starts_of(int attempt) const {
    std::size_t count = 0;
    read_transcript(out() / ("attempt-" + std::to_string(attempt)) / "transcript.jsonl",
                    [&count](const TranscriptRecord& record) {
                      count += record.type == "run.started" ? 1 : 0;
                    });
    return count;
  }
  /// Starts it, and kills its first process once the server got so many requests.
  void kill_at(const ScriptedServer& server, int requests) const {
    Program program(start(server.url()));
    server.http().wait_for("POST ", requests);
    const std::vector<pid_t> attempts = attempts_of(program);
    program.signal(SIGKILL);
    program.finish();
    // They end by themselves, and write how.
    for (const pid_t attempt : attempts)
      BOOST_REQUIRE(wait_until([attempt] { return ::kill(attempt, 0) != 0; }));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(best_of_again)

BOOST_AUTO_TEST_CASE(attempts_that_ended_well_are_returned_as_they_were) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(1))}});
  const AgainRun run("{count: 2}");
  BOOST_REQUIRE(run.run(server).status == 0);
  const std::size_t requests = server.http().count("POST ");

  const ProgramEnd end = run.again(server, {"--diff", run.path("d.diff").string()});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "done by mark-two\n");
  BOOST_TEST(run.result()["cached"].boolean());
  BOOST_TEST(run.result()["best_of"].integer_at("picked") == 2);
  BOOST_TEST(read_file(run.path("d.diff")) == run.artifact("changes.diff"));
  BOOST_TEST(server.http().count("POST ") == requests);
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(a_killed_run_keeps_the_attempts_that_ended_and_goes_on_with_the_others) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", interrupted_work_of("mark-two", good(1))}});
  const AgainRun run("{count: 3}");
  run.kill_at(server, 4);
  BOOST_TEST(run.result().string_at("status") == "running");

  const ProgramEnd end = run.again(server);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "done by mark-two\n");
  BOOST_TEST(holds(end.errors, "attempt 1 had ended: task-failed"), end.errors);
  BOOST_TEST(server.begun() == 2u);
  BOOST_TEST(run.starts_of(1) == 1u);
  BOOST_TEST(run.starts_of(2) == 2u);
  BOOST_TEST(run.attempt(1).string_at("status") == "task-failed");
  BOOST_TEST(run.attempt(2)["picked"].boolean());
  BOOST_TEST(run.attempt(3).string_at("status") == "not-started");
  BOOST_TEST(run.result()["best_of"].integer_at("turns") == 2 + run.attempt(2).integer_at("turns"));
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-two"));
  for (const char* folder : {"", "attempt-1", "attempt-2"}) run.check_verifies(run.out() / folder);
  for (const char* state : {"state", "attempt-1/state", "attempt-2/state"})
    BOOST_TEST(!fs::exists(fs::symlink_status(run.out() / state)), state);
}

BOOST_AUTO_TEST_CASE(attempts_that_a_signal_ended_go_on) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const ScriptedServer server({{"mark-one", interrupted_work_of("mark-one", "")},
                                 {"mark-two", interrupted_work_of("mark-two", good(1))}});
    const AgainRun run("{count: 2, parallel: 2}");
    {
      Program program(run.start(server.url()));
      server.http().wait_for("POST ", 4);
      program.signal(signal);
      const ProgramEnd end = program.finish();
      BOOST_TEST(end.status == 128 + signal, end.errors);
      BOOST_TEST(!processes_with(run.task().string()).size());
    }

    const ProgramEnd end = run.again(server);

    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(server.begun() == 2u);
    // One thread with all its turns, also those before the signal.
    std::string text;
    std::size_t threads = 0;
    for (const Json& event : end.events) {
      threads += event.string_at("type") == "thread.started" ? 1 : 0;
      text += write_json(event) + "\n";
    }
    BOOST_TEST(threads == 1u, text);
    BOOST_TEST(holds(text, "file_change"), text);
    BOOST_TEST(holds(text, "done by mark-two"), text);
    for (const char* folder : {"", "attempt-1", "attempt-2"})
      run.check_verifies(run.out() / folder);
  }
}

BOOST_AUTO_TEST_CASE(a_larger_budget_goes_on_and_counts_what_was_spent) {
  const ScriptedServer server(
      {{"mark-one", work_of("mark-one", "")}, {"mark-two", work_of("mark-two", good(1))}});
  const AgainRun run("{count: 2}", "budget: {turns: 1}\n");
  const ProgramEnd first = run.run(server);
  BOOST_TEST(first.status == 4, first.errors);
  BOOST_TEST(run.attempt(2).string_at("status") == "not-started");

  const ProgramEnd second = run.again(server, {"--max-turns", "3"});
  BOOST_TEST(second.status == 1, second.errors);
  BOOST_TEST(run.attempt(1).integer_at("turns") == 2);
  BOOST_TEST(run.attempt(2).integer_at("turns") == 1);
  BOOST_TEST(server.http().count("POST ") == 3u);
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(a_killed_run_whose_budget_is_spent_says_so_and_can_still_go_on) {
  std::vector<ServedResponse> twice = interrupted_work_of("mark-one", good(1));
  const ScriptedServer server({{"mark-one", twice}});
  const AgainRun run("{count: 2}");
  run.kill_at(server, 2);
  BOOST_REQUIRE(wait_until([&] { return !processes_with(run.task().string()).size(); }));

  const ProgramEnd spent = run.again(server, {"--max-turns", "1"});
  BOOST_TEST(spent.status == 4, spent.errors);
  BOOST_TEST(server.http().count("POST ") == 2u);

  const ProgramEnd end = run.again(server, {"--max-turns", "10"});
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-one"));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(two_commands_at_once_do_not_share_a_folder) {
  const ScriptedServer server({{"mark-one", interrupted_work_of("mark-one", good(1))}});
  const AgainRun run("{count: 2}");
  Program program(run.start(server.url()));
  server.http().wait_for("POST ", 2);

  const ProgramEnd second = run.again(server);
  BOOST_TEST(second.status == 12, second.errors);
  BOOST_TEST(holds(second.errors, "process " + std::to_string(program.pid())), second.errors);
  const ProgramEnd inside =
      run.again(server, {"--best-of", "1", "--out", (run.out() / "attempt-1").string()});
  BOOST_TEST(inside.status == 12, inside.errors);
  program.signal(SIGTERM);
  BOOST_TEST(program.finish().status == 143);
}

BOOST_AUTO_TEST_CASE(an_attempt_whose_state_is_lost_begins_again_and_what_it_spent_stays_spent) {
  const ScriptedServer server({{"mark-one", interrupted_work_of("mark-one", good(1))},
                               {"mark-two", work_of("mark-two", good(1))}});
  const AgainRun run("{count: 2}");
  run.kill_at(server, 2);
  BOOST_REQUIRE(wait_until([&] { return !processes_with(run.task().string()).size(); }));
  fs::remove_all(run.out() / "attempt-1/state");

  const ProgramEnd end = run.again(server);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(run.starts_of(1) == 1u);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-two"));
  const Json best_of = run.result()["best_of"];
  BOOST_TEST(best_of["lost"].integer_at("turns") == 1);
  BOOST_TEST(best_of["lost"].integer_at("tokens") == 110);
  BOOST_TEST(best_of.integer_at("turns") == 3);
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(what_is_no_longer_the_same_is_refused_and_can_be_discarded) {
  const struct {
    const char* name;
    const char* file;  ///< that is changed
    const char* content;
    std::vector<std::string> flags;
    const char* says;
  } rows[] = {
      {"base", "work/a.txt", "mine\n", {}, "of another base: since it began, the workspace has"},
      {"attempts", "", "", {"--best-of", "3"}, "of another key: the task differs"},
      {"a run by itself", "", "", {"--best-of", "1"}, "of another key: the task differs"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ScriptedServer server({{"mark-one", interrupted_work_of("mark-one", good(1))},
                                   {"mark-two", work_of("mark-two", good(1))}});
      const AgainRun run("{count: 2}");
      run.kill_at(server, 2);
      if (*row.file != '\0') run.write(row.file, row.content);

      const ProgramEnd refused = run.again(server, row.flags);
      BOOST_TEST(refused.status == 2, refused.errors);
      BOOST_TEST(holds(refused.errors, row.says), refused.errors);
      BOOST_TEST(fs::exists(run.out() / "attempt-1/transcript.jsonl"));

      std::vector<std::string> fresh = row.flags;
      fresh.push_back("--fresh");
      const ProgramEnd end = run.run(server, fresh);
      BOOST_TEST(!fs::exists(run.path("out.prev")));
      if (*row.file == '\0') BOOST_TEST(end.status == 0, end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_picked_diff_that_could_not_be_applied_is_applied_by_the_same_command) {
  std::function<void()> edit;
  std::vector<Script> scripts = {{"mark-one", work_of("mark-one", good(1))},
                                 {"mark-two", work_of("mark-two", "")}};
  scripts[1].before_last = [&edit] { edit(); };
  const ScriptedServer server(scripts);
  const AgainRun run("{count: 2, parallel: 2, pick: smallest-diff}");
  const fs::path mine = run.path("work/a.txt");
  const std::string base = read_file(mine);
  bool passed = false;
  edit = [&] {
    passed = wait_until([&] {
      std::error_code error;
      return fs::exists(run.out() / "attempt-1/changes.diff", error) ||
             fs::exists(run.out() / "attempt-2/changes.diff", error);
    });
    write_file(mine, "of the user\n");
  };
  const ProgramEnd first = run.again(server, {"--apply"});
  BOOST_REQUIRE(passed);
  BOOST_TEST(first.status == 13, first.errors);
  BOOST_TEST(holds(first.errors, "run the same command again: it applies the diff"), first.errors);
  BOOST_TEST(!run.result()["applied"].boolean(true));
  const std::size_t requests = server.http().count("POST ");

  // What is there proves itself, though nothing was handed over.
  const ProgramEnd verified =
      run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
  BOOST_TEST(verified.status == 0, verified.errors);
  BOOST_TEST(holds(verified.output, "nothing was handed over: result.json says conflict"),
             verified.output);

  const ProgramEnd same = run.again(server, {"--apply"});
  BOOST_TEST(same.status == 13, same.errors);
  write_file(mine, base);
  const ProgramEnd end = run.again(server, {"--apply"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(server.http().count("POST ") == requests);
  BOOST_TEST(holds(read_file(mine), "mark-one"));
  BOOST_TEST(run.result()["applied"].boolean());
  BOOST_TEST(!fs::exists(run.path("out.prev")));
  run.check_verifies(run.out());

  // Undone by the user, it is applied again; the attempts stay as they are told.
  const Json attempts = run.result()["attempts"];
  write_file(mine, base);
  BOOST_TEST(run.again(server, {"--apply"}).status == 0);
  BOOST_TEST(holds(read_file(mine), "mark-one"));
  BOOST_TEST(server.http().count("POST ") == requests);
  BOOST_TEST((run.result()["attempts"] == attempts));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_CASE(what_attempts_left_that_were_never_handed_over_is_verified) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", interrupted_work_of("mark-two", good(1))}});
  const AgainRun run("{count: 3}");
  run.kill_at(server, 4);
  const auto verify = [&] {
    return run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
  };

  const ProgramEnd whole = verify();
  BOOST_TEST(whole.status == 0, whole.errors);
  BOOST_TEST(holds(whole.output,
                   "attempts: 2 checked in their own folders; at the top nothing is "
                   "handed over yet"),
             whole.output);
  // One that was killed as it began.
  fs::create_directories(run.out() / "attempt-3");
  write_file(run.out() / "attempt-3/transcript.jsonl",
             run.artifact("attempt-2/transcript.jsonl").substr(0, 40));
  const ProgramEnd begun = verify();
  BOOST_TEST(begun.status == 0, begun.errors);
  BOOST_TEST(holds(begun.output, "killed before its first record: attempt-3"), begun.output);
  std::string text = run.artifact("attempt-1/transcript.jsonl");
  text.replace(text.find("mark-one"), 8, "mark-won");
  write_file(run.out() / "attempt-1/transcript.jsonl", text);
  const ProgramEnd altered = verify();
  BOOST_TEST(altered.status == 8, altered.output);
  BOOST_TEST(holds(altered.errors, "attempt-1: "), altered.errors);
}

BOOST_AUTO_TEST_CASE(after_a_failed_attempt_one_that_was_cut_off_goes_on) {
  const ScriptedServer server({{"mark-one", work_of("mark-one", "")},
                               {"mark-two", interrupted_work_of("mark-two", good(1))}});
  const AgainRun run("{count: 3, parallel: 2}");
  {
    Program program(run.start(server.url()));
    server.http().wait_for("POST ", 4);
    BOOST_REQUIRE(wait_until([&] {
      const std::string text = run.artifact("attempt-1/result.json");
      return holds(text, "task-failed") ||
             holds(run.artifact("attempt-2/result.json"), "task-failed");
    }));
    for (const pid_t attempt : attempts_of(program)) ::kill(attempt, SIGKILL);
    const ProgramEnd end = program.finish();
    BOOST_TEST(end.status == 1, end.errors);
    BOOST_TEST(holds(end.errors, "the same command goes on with attempt"), end.errors);
  }
  run.check_verifies(run.out());
  const std::size_t begun = server.begun();

  const ProgramEnd end = run.again(server);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(server.begun() == begun);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+mark-two"));
  BOOST_TEST(!fs::exists(run.path("out.prev")));
  run.check_verifies(run.out());
}

BOOST_AUTO_TEST_SUITE_END()
