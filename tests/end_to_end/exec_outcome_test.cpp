// How a turn of `sortie exec` tells its caller how it ended, and what a signal, a closed pipe or
// another turn at the same time makes of it.
#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/end_to_end/exec_run.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

std::vector<ServedResponse> answers_with(const std::string& text = "Done.") {
  CassetteWriter cassette;
  cassette.message(text);
  return served(cassette);
}

Json status_in(const ExecRun& run) {
  const std::string text = read_file(run.path("status"));
  BOOST_TEST(text.find('\n') == text.size() - 1);
  return parse_json(text);
}

/// The value of an output of a step: NAME<<DELIMITER, a line, DELIMITER.
std::string output_of(const ExecRun& run, const std::string& name) {
  const std::string text = read_file(run.path("step-outputs"));
  const std::size_t at = text.find(name + "<<");
  if (at == std::string::npos) return "missing";
  const std::size_t begin = text.find('\n', at) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

ProgramStart as_step(const ExecRun& run, ProgramStart start) {
  run.write("step-outputs", "");
  start.environment["GITHUB_ACTIONS"] = "true";
  start.environment["GITHUB_OUTPUT"] = run.path("step-outputs").string();
  return start;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_outcome)

BOOST_AUTO_TEST_CASE(a_turn_tells_its_outcome_to_the_job) {
  const ExecRun run;
  const std::string status = run.path("status").string();
  const struct {
    std::vector<std::string> words;
    const char* transcript;  ///< what its path ends with; "": none is left
    bool out;
  } rows[] = {
      {{"go"}, "/transcript.jsonl", false},
      {{"--ephemeral", "go"}, "", false},
      {{"--out", run.out().string(), "go"}, "/transcript.jsonl", true},
  };
  for (const auto& row : rows) {
    const ModelServer server(answers_with("It is done."));
    std::vector<std::string> words = row.words;
    words.insert(words.begin(), {"--status-file", status});
    BOOST_TEST_CONTEXT(row.words.front()) {
      const ProgramEnd end = run_program(as_step(run, run.exec(words, base_url(server))));

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      const Json told = status_in(run);
      BOOST_TEST(told.string_at("status") == "success");
      BOOST_TEST(told.integer_at("exit_code", -1) == 0);
      BOOST_TEST(told.integer_at("tokens") > 0);
      BOOST_TEST(told.string_at("out") == (row.out ? run.out().string() : ""));
      BOOST_TEST(output_of(run, "status") == "success");
      BOOST_TEST(output_of(run, "final-message") == "It is done.");
      const std::string diff = output_of(run, "diff-path");
      BOOST_TEST(diff == (row.out ? (run.out() / "changes.diff").string() : ""));
      BOOST_TEST(fs::exists(diff) == row.out);
      const std::string transcript = output_of(run, "transcript-path");
      BOOST_TEST(transcript.ends_with(row.transcript));
      BOOST_TEST(fs::exists(transcript) == (*row.transcript != '\0'));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_finished_turn_that_is_not_kept_is_not_to_be_paid_for_again) {
  const ExecRun run;
  const std::string last = run.path("last").string();
  const std::string out = run.out().string();
  const struct {
    std::vector<std::string> words;
    std::string next;
  } rows[] = {
      {{"go"}, "nothing: stdout has the answer"},
      {{"--json", "-v", "go"}, "nothing: the events have the answer"},
      {{"-o", last, "go"}, "the answer is in " + last},
      {{"--out", out, "go"}, "the answer is in " + out + "/last-message.txt"},
  };
  for (const auto& row : rows) {
    const ModelServer server(answers_with("It is done."));
    std::vector<std::string> words = row.words;
    words.insert(words.begin(), "--ephemeral");
    const ProgramEnd end = run.exec(server, words);

    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(holds(end.errors, "next: " + row.next), end.errors);
    BOOST_TEST(!holds(end.errors, "same command"), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(a_failed_turn_names_no_folder_that_is_gone) {
  const ExecRun run;
  run.write("s.json", R"({"type":"object","properties":{"n":{"type":"integer"}},)"
                      R"("required":["n"],"additionalProperties":false})");
  CassetteWriter cassette;
  for (int round = 0; round < 8; ++round) cassette.message("no number").next();
  const ModelServer server(served(cassette));

  const ProgramEnd end =
      run.exec(server, {"--ephemeral", "--output-schema", run.path("s.json").string(), "Count."});

  BOOST_TEST(end.status == 1);
  BOOST_TEST(holds(end.errors, "task-failed (1)"), end.errors);
  BOOST_TEST(!holds(end.errors, "sortie-exec"), end.errors);
  BOOST_TEST(holds(end.errors, "next: the same command with --out"), end.errors);
}

BOOST_AUTO_TEST_CASE(what_did_not_begin_is_told_with_its_reason) {
  const ExecRun run;
  const ModelServer server({});

  const ProgramEnd end = run_program(as_step(
      run, run.exec({"--status-file", run.path("status").string(), "-i", "missing.png", "--", "go"},
                    base_url(server))));

  BOOST_TEST(end.status == 1);
  BOOST_TEST(holds(status_in(run).string_at("reason"), "missing.png"));
  BOOST_TEST(!status_in(run)["retryable"].boolean());
  BOOST_TEST(output_of(run, "status") == "usage");
  BOOST_TEST(output_of(run, "transcript-path") == "");
}

BOOST_AUTO_TEST_CASE(a_status_file_that_would_destroy_something_is_refused) {
  const ExecRun run;
  const ModelServer server({});
  run.write("notes", "my notes\n");
  fs::create_directory(run.out());
  for (const std::string& file :
       {run.path("notes").string(), (run.out() / "status").string(), std::string("/")}) {
    const ProgramEnd end =
        run.exec(server, {"--status-file", file, "--out", run.out().string(), "go"});
    BOOST_TEST(end.status == 2, file);
    BOOST_TEST(holds(end.errors, "--status-file"), end.errors);
  }
  BOOST_TEST(read_file(run.path("notes")) == "my notes\n");
  BOOST_TEST(run.threads().empty());
}

BOOST_AUTO_TEST_CASE(an_exit_map_sets_what_may_be_tried_again_apart) {
  const struct {
    int served;
    std::vector<std::string> map;
    int status;
  } rows[] = {
      {503, {}, 1},
      {503, {"--exit-map", "retryable=75"}, 75},
      {400, {"--exit-map", "retryable=75"}, 1},
      {503, {"--exit-map", "busy=75"}, 2},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    const std::string body = R"({"error":{"message":"no"}})";
    const ModelServer server({served_status(row.served, {}, body)});
    std::vector<std::string> words = row.map;
    words.insert(words.end(),
                 {"-c", "model_provider=m", "-c", "model_providers.m.base_url=" + base_url(server),
                  "-c", "model_providers.m.stream_max_retries=0", "go"});

    const ProgramEnd end = run_program(run.exec(words));

    BOOST_TEST(end.status == row.status, end.errors);
  }
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_turn_and_the_thread_goes_on) {
  for (const auto& [signal, word] : {std::pair(SIGINT, "130"), std::pair(SIGTERM, "143")}) {
    const ExecRun run;
    CassetteWriter cassette;
    cassette.shell({"echo", "done-before"}).next().shell({"sleep", "600"}).next();
    const ModelServer first(served(cassette));
    Program program(run.exec({"--json", "-o", run.path("last").string(), "--status-file",
                              run.path("status").string(), "first"},
                             base_url(first)));
    BOOST_REQUIRE(program.wait_for_output_text("sleep 600"));

    program.signal(signal);
    const ProgramEnd end = program.finish();

    BOOST_TEST_CONTEXT(word) {
      BOOST_TEST(std::to_string(end.status) == word);
      BOOST_TEST(holds(story_of(end.output), "item.completed:command_execution(failed) "));
      const Json last = events_of(end.output).back();
      BOOST_TEST(last.string_at("type") == "turn.failed");
      BOOST_TEST(!last["error"].string_at("message").empty());
      BOOST_TEST(!fs::exists(run.path("last")));
      BOOST_TEST(status_in(run).string_at("status") == "interrupted");
      BOOST_TEST(std::to_string(status_in(run).integer_at("exit_code")) == word);

      const ModelServer second(answers_with("Two."));
      const std::string id = events_of(end.output).front().string_at("thread_id");
      const ProgramEnd two = run.exec(second, {"resume", id, "second"});
      BOOST_TEST_REQUIRE(two.status == 0, two.errors);
      BOOST_TEST(holds(second.requests().front().body, "done-before"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reader_that_goes_away_does_not_end_the_turn) {
  for (const char* how : {">&-", "| head -n 1 > /dev/null", "> /dev/full"}) {
    const ExecRun run;
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", "echo x > made.txt"}).next().message("Done.");
    const ModelServer server(served(cassette));
    ProgramStart start = run.exec({}, base_url(server));
    std::string line;
    for (const std::string& word : start.argv) line += "'" + word + "' ";
    line += "--json -s workspace-write -o " + run.path("last").string() + " go ";
    start.argv = {"bash", "-c", line + how};

    const ProgramEnd end = run_program(start);

    BOOST_TEST(fs::exists(run.workspace() / "made.txt"), how << end.errors);
    BOOST_TEST(read_file(run.path("last")) == "Done.", how);
    const ModelServer next(answers_with());
    BOOST_TEST(run.exec(next, {"resume", "--last", "and?"}).status == 0);
    BOOST_TEST(holds(outputs_in(next.requests().front()), "Exit code: 0"), how);
  }
}

BOOST_AUTO_TEST_CASE(a_stdout_whose_disk_is_full_is_no_success) {
  for (const char* flags : {"--json", "", "--ephemeral --json", "--ephemeral -v"}) {
    BOOST_TEST_CONTEXT(flags) {
      const ExecRun run;
      const ModelServer server(answers_with("Done."));
      ProgramStart start = run.exec({}, base_url(server));
      start.argv.insert(
          start.argv.begin(),
          {"bash", "-c", std::string("\"$@\" -s read-only ") + flags + " go > /dev/full", "bash"});

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 1, end.errors);
      const std::string line =
          "sortie: stdout: No space left on device; it did not take the whole "
          "answer, so the status is 1";
      const std::size_t at = end.errors.find(line);
      BOOST_REQUIRE_MESSAGE(at != std::string::npos, end.errors);
      BOOST_TEST(end.errors.find("No space", at + line.size()) == std::string::npos, end.errors);
      const bool kept = std::string(flags).find("ephemeral") == std::string::npos;
      const std::string has_it = " has all of it\n";
      BOOST_TEST(end.errors.ends_with(has_it) == kept, end.errors);
      if (!kept) continue;
      const std::size_t folder = at + line.size() + 2;
      BOOST_TEST(fs::exists(fs::path(end.errors.substr(
                                folder, end.errors.size() - has_it.size() - folder)) /
                            "transcript.jsonl"),
                 end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_second_turn_of_a_thread_waits_for_the_first_and_has_its_words) {
  const ExecRun run;
  const ModelServer first(answers_with("One."));
  const ProgramEnd one = run.exec(first, {"--json", "first"});
  const std::string id = events_of(one.output).front().string_at("thread_id");
  CassetteWriter cassette;
  cassette.shell({"sleep", "600"}).next();
  const ModelServer slow(served(cassette));
  Program other(run.exec({"--json", "resume", id, "slow"}, base_url(slow)));
  BOOST_REQUIRE(other.wait_for_output_text("sleep 600"));

  const ModelServer busy(answers_with());
  const ProgramEnd refused =
      run.exec(busy, {"--exit-map", "retryable=75", "resume", "--last", "at the same time"});
  const ModelServer beside(answers_with("Beside."));
  const ProgramEnd apart = run.exec(beside, {"another thread"});
  const ModelServer read(answers_with("Read."));
  const ProgramEnd ephemeral = run.exec(read, {"--ephemeral", "resume", id, "read"});
  const ModelServer second(answers_with("Two."));
  Program waiting(run.exec({"--json", "resume", id, "second"}, base_url(second)));
  other.signal(SIGTERM);
  const ProgramEnd slow_end = other.finish();
  const ProgramEnd two = waiting.finish();

  BOOST_TEST(refused.status == 75);
  BOOST_TEST(holds(refused.errors, "another turn is at work on it"), refused.errors);
  BOOST_TEST(busy.requests().empty());
  BOOST_TEST(apart.status == 0, apart.errors);
  BOOST_TEST(ephemeral.status == 0, ephemeral.errors);
  BOOST_TEST(slow_end.status == 143);
  BOOST_TEST_REQUIRE(two.status == 0, two.errors);
  BOOST_TEST(holds(second.requests().front().body, "slow"));
  for (const auto& entry : fs::directory_iterator(run.path("home/threads") / id))
    if (entry.is_directory()) {
      const ProgramEnd verify =
          run_program({.argv = {sortie_binary(), "verify", entry.path().string()}});
      BOOST_TEST(verify.status == 0, verify.errors);
    }
}

BOOST_AUTO_TEST_SUITE_END()
