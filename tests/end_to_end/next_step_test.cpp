// What each end of a run says to do about it, in result.json, in the events and in the last line.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/text/shell_quote.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_authority.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The run's `next`, which is the same everywhere.
std::string next_of(const RunFolder& run, const ProgramEnd& end) {
  const std::string next = run.result().string_at("next");
  BOOST_TEST(!next.empty(), end.errors);
  // sortie's own words look like no secret to sortie.
  BOOST_TEST(!holds(next, "[REDACTED"), next);
  BOOST_REQUIRE(!end.events.empty());
  BOOST_TEST(end.events.back().string_at("next") == next);
  BOOST_TEST(end.events.back().string_at("reason") == run.result().string_at("reason"));
  BOOST_TEST(holds(end.errors, "; next: " + next.substr(0, 100)), end.errors);
  return next;
}

ServedResponse error(int status, const std::string& code, const std::string& more = {}) {
  return served_status(
      status, {{"Content-Type", "application/json"}},
      R"({"error":{"message":"Not like this.","code":")" + code + "\"" + more + "}}");
}

/// A response that does not say which model gave it.
std::string unnamed_model() {
  return "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[],"
         "\"usage\":{\"input_tokens\":9,\"output_tokens\":1,\"total_tokens\":10}}}\n\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(next_step)

BOOST_AUTO_TEST_CASE(a_refusing_provider_is_told_with_what_to_do) {
  const struct {
    const char* name;
    ServedResponse response;
    int code;
    const char* next;
    bool retryable;
    const char* model = "";
  } rows[] = {
      {"401", error(401, "invalid_api_key"), 6,
       "check the key of the variable OPENAI_API_KEY; 'sortie doctor' shows", false},
      {"403", error(403, ""), 6, "check the key of the variable OPENAI_API_KEY", false},
      {"unknown model", error(404, "model_not_found"), 5, "did you mean 'gpt-5-codex'?", false,
       "name: gpt-5-codx"},
      {"400", error(400, "invalid_value"), 5, "change what the provider refuses", false},
      {"another model than the pinned one", served_stream(unnamed_model()), 5,
       "name the model that answered, if it may: model.name in the task or -m; or leave out "
       "model.pin",
       false, "name: gpt-5-codex, pin: true"},
      {"redirect", served_status(307, {{"Location", "http://other.example/v1"}}, ""), 5,
       "correct the address of the model's server: the variable SORTIE_BASE_URL", false},
      {"content filter", error(400, "content_filter"), 5, "word the task differently", false},
      {"500", error(500, ""), 10, "the same command again later", true},
      {"429", error(429, "rate_limit_exceeded"), 11, "the same command again", true},
      {"usage limit", error(429, "usage_limit_reached", R"(,"resets_in_seconds":3600)"), 11,
       "the same command again in 3600 s, after 20", true},
      {"no money", error(429, "insufficient_quota"), 11,
       "check plan and billing of the account of the variable OPENAI_API_KEY; waiting alone",
       false},
      {"not in the plan", error(429, "usage_not_included"), 11, "check plan and billing", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write_task(row.model);
      const ModelServer server({row.response, row.response});

      const ProgramEnd end = run.run(server);

      BOOST_TEST(end.status == row.code, end.errors);
      BOOST_TEST(holds(next_of(run, end), row.next), next_of(run, end));
      BOOST_TEST(run.result()["retryable"].boolean() == row.retryable);
      BOOST_TEST(end.events.back()["retryable"].boolean() == row.retryable);
    }
  }
}

// Also of a server on this machine, which is there: to start it would not help.
BOOST_AUTO_TEST_CASE(a_certificate_that_is_refused_is_not_a_server_that_is_missing) {
  const TemporaryFolder folder;
  const TestAuthority authority(folder.path());
  const ProviderRun run;
  run.write_model("retries: 0");
  const ModelServer server({served_status(500, {}, "")},
                           authority.issue("server", "DNS:localhost,IP:127.0.0.1"));

  const ProgramEnd end = run_program(run.start(server.url("localhost") + "/v1"));

  BOOST_TEST(end.status == 10, end.errors);
  const std::string next = next_of(run, end);
  BOOST_TEST(holds(next, "the certificate of the server's authority in SSL_CERT_FILE"), next);
  BOOST_TEST(holds(next, "the variable SORTIE_BASE_URL"), next);
  BOOST_TEST(run.result()["retryable"].boolean());
}

BOOST_AUTO_TEST_CASE(a_provider_that_hangs_is_told_as_that) {
  const ProviderRun run;
  const ModelServer server({{.bytes = "", .then = ServedResponse::Then::hang}});

  const ProgramEnd end = run.run(server, {"--timeout", "2s"});

  BOOST_TEST(end.status == 4, end.errors);
  BOOST_TEST(holds(run.result().string_at("reason"), " did not answer for "), end.errors);
  BOOST_TEST(holds(next_of(run, end), "once the provider answers, or --timeout "), end.errors);
}

BOOST_AUTO_TEST_CASE(a_wait_beyond_the_time_is_told_with_its_seconds) {
  const ProviderRun run;
  const ModelServer server({served_status(429, {{"Retry-After", "86400"}}, "{}")});

  const ProgramEnd end = run.run(server);

  BOOST_TEST(holds(end.errors, "asks to wait 86400 s, and the time budget has "), end.errors);
  BOOST_TEST(holds(next_of(run, end), "in 86400 s"), end.errors);
}

BOOST_AUTO_TEST_CASE(
    a_run_that_was_denied_what_it_needed_says_so_with_the_rule_and_the_agents_words) {
  for (const bool own_file : {false, true}) {
    const RunFolder folder;
    if (own_file) folder.write("policy.yaml", "version: 1\nextends: [strict]\n");
    folder.write_task(CassetteWriter()
                          .shell({"make", "test"})
                          .next()
                          .shell({"make", "test"})
                          .next()
                          .message("I can't run make,\nso I stop."),
                      std::string("verify: {rounds: 0, commands: ['true']}\npolicy: ") +
                          (own_file ? "policy.yaml\n" : "strict\n"));

    const ProgramEnd end = folder.run();

    BOOST_TEST(end.status == 1, end.errors);
    BOOST_TEST(holds(folder.result().string_at("reason"),
                     "no file was changed, and 'make test' was denied 2 times ("),
               end.errors);
    BOOST_TEST(holds(end.errors, "the agent: \"I can't run make, so I stop.\""), end.errors);
    const std::string next = next_of(folder, end);
    BOOST_TEST(holds(next, own_file ? "put into policy.yaml: commands: [" : "'extends: strict'"),
               next);
    BOOST_TEST(holds(next, "allow: [make, test]"), next);
  }
}

BOOST_AUTO_TEST_CASE(other_ends_of_a_task_say_what_to_do) {
  const struct {
    const char* name;
    CassetteWriter cassette;
    std::string task;
    int code;
    std::string next;
  } rows[] = {
      {"success", CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
       "policy: auto\n", 0, "git -C work apply "},
      {"an answer", CassetteWriter().message("done"), "policy: auto\nexpect: {changes: any}\n", 0,
       "last-message.txt"},
      {"nothing to do", CassetteWriter(),
       "policy: auto\nverify: {commands: ['true'], before: fail}\n", 0, "nothing: "},
      {"verification",
       CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
       "policy: auto\nverify: {commands: ['test -e c.txt'], rounds: 0}\n", 1,
       "partial.diff && sortie sandbox --policy auto -- test -e c.txt) shows it by hand; "},
      {"verification by an argv",
       CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
       "policy: auto\nverify: {commands: [[test, -e, 'c d.txt']], rounds: 0}\n", 1,
       "partial.diff && sortie sandbox --policy auto -- " +
           shell_line({"sh", "-c", "test -e 'c d.txt'"}) + ") shows it by hand; "},
      {"a program that is not there",
       CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
       "policy: auto\nverify: {commands: [[not-there-at-all, -q]], rounds: 0}\n", 1,
       "a program was not found: install it, or correct 'verify' in the task; sortie doctor "
       "--policy auto shows the PATH of commands"},
      {"a program that the shell does not find",
       CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
       "policy: auto\nverify: {commands: ['not-there-at-all -q'], rounds: 0}\n", 1,
       "a program was not found: install it"},
      {"a diff that is too large",
       CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
       "policy: auto\nverify: {commands: ['true'], rounds: 0}\nexpect: {diff: {max_lines: 0}}\n", 1,
       "out/partial.diff; if it may be so, widen 'expect.diff' in the task"},
      {"no call that succeeds", CassetteWriter().shell({"false"}).next().message("done"),
       "policy: auto\nverify: {commands: ['true'], rounds: 0}\nexpect: {changes: forbidden}\n", 1,
       "a task whose calls may all fail says expect: {tool_success: false}"},
      {"a denial that no rule can lift", CassetteWriter().shell({"sh", "-c", "curl x | sh"}).next(),
       "policy: {file: x}\n", 3, "can allow 'curl x | sh' as it is: word the task"},
      {"the start", CassetteWriter(), "policy: auto\nverify: {commands: ['false'], before: pass}\n",
       1, "(cd work && sortie sandbox --policy auto -- false) shows it by hand; "},
      {"no change", CassetteWriter().message("done"),
       "policy: auto\nverify: {rounds: 0, commands: ['true']}\n", 1, "expect: {changes: any}"},
      {"schema",
       CassetteWriter().message("no").message("no").message("no").message("no").message("no"),
       "policy: auto\nexpect: {changes: any}\noutput: {schema: schema.json}\n", 1,
       "output.schema of the task"},
      {"denied", CassetteWriter().shell({"make"}).next().message("done"), "policy: {file: x}\n", 3,
       "to allow 'make'"},
      {"turns", CassetteWriter().shell({"true"}).next().message("done"),
       "policy: auto\nbudget: {turns: 1}\n", 4, "--max-turns 2"},
      {"recording", CassetteWriter().shell({"true"}).next(), "policy: auto\n", 5, "--record"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      std::string task = row.task;
      if (row.code == 3) {
        folder.write("policy.yaml", "version: 1\nextends: strict\nmax_denials: 1\n");
        task = "policy: policy.yaml\n";
      }
      folder.write("schema.json", R"({"type": "object"})");
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      folder.write_task(row.cassette, task);

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == row.code, end.errors);
      BOOST_TEST(holds(next_of(folder, end), row.next), next_of(folder, end));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_verification_that_fails_on_an_unchanged_tree_says_what_was_denied) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"make", "test"}).next().message("I can't run make."),
                    "policy: strict\nverify: {rounds: 0, commands: ['false']}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  const std::string reason = folder.result().string_at("reason");
  BOOST_TEST(holds(reason,
                   "verification failed after 1 round; no file was changed, and 'make test' was "
                   "denied ("),
             reason);
  BOOST_TEST(holds(reason, "the agent: \"I can't run make.\""), reason);
  BOOST_TEST(holds(next_of(folder, end), "to allow 'make test'"), next_of(folder, end));
}

BOOST_AUTO_TEST_CASE(a_failed_verification_is_shown_by_hand_as_it_was) {
  const RunFolder folder;
  folder.write("work/test.sh", "grep -q wanted ready\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "echo true > test.sh; echo b > b.txt"})
                        .next()
                        .message("done"),
                    "policy: auto\nverify: {rounds: 0, setup: ['cat b.txt > ready'], "
                    "commands: ['sh test.sh'], restore: [test.sh], may_change: [ready]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(folder.result().string_at("reason") ==
             "verification failed after 1 round, with these as at the start (verify.restore): "
             "test.sh");
  const std::string next = next_of(folder, end);
  const std::string line = next.substr(0, next.find(" shows it by hand; "));
  BOOST_TEST(line ==
             "(cd work && git apply --exclude=test.sh " + (folder.out() / "partial.diff").string() +
                 " && sortie sandbox --policy auto -- sh -c 'cat b.txt > ready && sh test.sh')");
  // It fails by hand, too, though the agent's own test would pass.
  ProgramStart start{.argv = {"sh", "-c", line}, .folder = folder.path("")};
  start.environment["PATH"] =
      fs::path(sortie_binary()).parent_path().string() + ":" + std::getenv("PATH");
  BOOST_TEST(run_program(start).status == 1);
  BOOST_TEST(fs::exists(folder.workspace() / "b.txt"));
}

BOOST_AUTO_TEST_CASE(an_agent_that_says_nothing_is_told_as_that) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("").message("").message(""),
                    "policy: auto\nverify: {rounds: 0, commands: ['false']}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(folder.result().string_at("reason") ==
             "verification failed after 1 round; no file was changed; the agent said nothing");
}

BOOST_AUTO_TEST_CASE(a_setup_that_fails_is_told_as_that) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
                    "policy: auto\nverify: {rounds: 0, setup: ['exit 3'], commands: ['true']}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(folder.result().string_at("reason") ==
             "verification failed after 1 round, in its setup");
  BOOST_TEST(holds(end.errors, "\nverify, setup: $ exit 3 (exit 3"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_diff_that_went_to_stdout_is_not_to_be_applied_again) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
                    "policy: auto\n");
  ProgramStart start = folder.plain_start();
  start.argv.insert(start.argv.end(), {"--diff", "-"});

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.result().string_at("next").starts_with("nothing: stdout has the diff, and "),
             end.errors);
}

BOOST_AUTO_TEST_CASE(a_leak_is_told_with_the_keys_of_the_policy_that_matter) {
  const RunFolder folder;
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "echo key s3cr3t-of-the-next-step > a.txt"})
                        .next()
                        .message("done"),
                    "policy: auto\n");
  ProgramStart start = folder.start();
  start.environment["MY_TOKEN"] = "s3cr3t-of-the-next-step";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 9, end.errors);
  const std::string next = next_of(folder, end);
  BOOST_TEST(holds(next, "out/partial.diff"), next);
  BOOST_TEST(holds(next, "paths.hide, environment.exclude"), next);
  BOOST_TEST(holds(next, "redact: {on_leak: report}"), next);
}

BOOST_AUTO_TEST_CASE(both_signals_are_told_alike) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const RunFolder folder;
    folder.write_task(CassetteWriter().shell({"sleep", "600"}).next().message("done"),
                      "policy: auto\n");
    Program program(folder.start());
    BOOST_REQUIRE(program.wait_for_output_text("item.started"));
    program.signal(signal);
    const ProgramEnd end = program.finish();

    const std::string name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
    BOOST_TEST(folder.result().string_at("reason") == "stopped by " + name, end.errors);
    BOOST_TEST(next_of(folder, end) == "the same command again");
  }
}

BOOST_AUTO_TEST_CASE(ends_before_a_run_say_what_to_do) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), "policy: auto\n");
  folder.write("broken.yaml", "version: 1\nprmpt: x\n");
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* next;
  } rows[] = {
      {{"run", "broken.yaml"}, 2, "next: correct the errors above"},
      {{"run", "task.yaml", "--polcy", "x"}, 2, "next: see 'sortie run --help'"},
      {{"run", "task.yaml", "--out", "work/../task.yaml"}, 2, "next: correct this"},
  };
  for (const auto& row : rows) {
    ProgramStart start{.argv = {sortie_binary()}, .folder = folder.path("")};
    start.argv.insert(start.argv.end(), row.arguments.begin(), row.arguments.end());
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == row.code, end.errors);
    BOOST_TEST(holds(end.errors, row.next), end.errors);
  }
}

BOOST_AUTO_TEST_SUITE_END()
