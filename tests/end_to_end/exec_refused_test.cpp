// What `sortie exec` refuses before anything is started: its status, its last line, and that nothing
// is left behind.
#include <boost/test/unit_test.hpp>

#include "tests/end_to_end/exec_run.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(exec_refused)

BOOST_AUTO_TEST_CASE(a_wrong_value_is_of_the_command_line_and_a_missing_thing_is_a_failure) {
  const struct {
    std::vector<std::string> words;
    int status;
    const char* text;
  } rows[] = {
      {{"--timeout", "0"}, 2, "--timeout: expected a duration"},
      {{"--isolation", "foo"}, 2, "--isolation: 'foo' is not one of"},
      {{"--provider", "foo"}, 2, "--provider: 'foo' is not one of"},
      {{"--max-cost", "-1"}, 2, "--max-cost: expected an amount"},
      {{"--max-turns", "0"}, 2, "--max-turns: expected a whole number"},
      {{"--base-url", "foo"}, 2, "address 'foo'"},
      {{"--policy", "missing.yaml"}, 2, "missing.yaml"},
      {{"--api-key-file", "missing"}, 2, "--api-key-file missing"},
      {{"--auth-file", "missing"}, 2, "auth file missing"},
      {{"--replay", "missing"}, 2, "missing: no such file"},
      {{"--replay", "c", "--provider", "openai"}, 2, "and --provider openai selects a server"},
      {{"--replay", "c", "--base-url", "http://127.0.0.1:1/v1"}, 2, "and --base-url selects"},
      {{"--record", "/nonexistent/x"}, 2, "--record /nonexistent/x"},
      {{"--diff", "/"}, 2, "--diff /: is a folder"},
      {{"-o", "/"}, 2, "/: is a folder"},
      {{"-c", "model_provider=x", "-c", "model_providers.x.base_url=foo"}, 2, "address 'foo'"},
      {{"-c", "model_provider=zz"}, 2, "no model_providers.zz.base_url is given"},
      {{"-c", "mcp_servers.x.url=foo"}, 2, "-c mcp_servers.x.url: address 'foo'"},
      {{"-c", "sandbox_mode=foo"}, 2, "-c sandbox_mode: expected one of"},
      {{"review"}, 2, "review: give it one of"},
      {{"-C", "missing"}, 1, "-C missing"},
      {{"-C", "/etc/hostname"}, 1, "-C /etc/hostname: not a folder"},
      {{"-C", "/"}, 1, "Not inside a trusted directory: /"},
      {{"-p", "missing"}, 1, "--profile missing"},
      {{"-i", "missing.png", "--"}, 1, "--image missing.png"},
      {{"--output-schema", "missing.json"}, 1, "missing.json"},
      {{"resume", "missing"}, 1, "resume missing: there is no such thread"},
      {{"resume", "--last"}, 1, "resume --last: there is no thread"},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    const ModelServer server({});
    std::vector<std::string> words = row.words;
    if (words.front() != "review") words.emplace_back("go");
    BOOST_TEST_CONTEXT(row.text) {
      const ProgramEnd end = run.exec(server, words);

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(end.output == "");
      BOOST_TEST(end.errors.starts_with("sortie: usage (2): "), end.errors);
      BOOST_TEST(holds(end.errors, row.text), end.errors);
      BOOST_TEST(holds(end.errors, "; next: "), end.errors);
      BOOST_TEST(split_lines(end.errors).size() == 1u, end.errors);
      BOOST_TEST(server.requests().empty());
      BOOST_TEST(run.threads().empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_value_of_the_wrong_type_is_not_printed) {
  const ExecRun run;
  const ModelServer server({});
  const ProgramEnd end = run.exec(server, {"-c", "mcp_servers.x.env.PIN=4711081547110815", "-c",
                                           "mcp_servers.x.command=sh", "go"});
  BOOST_TEST(end.status == 2);
  BOOST_TEST(holds(end.errors, "-c mcp_servers.x.env.PIN: expected a string, got a number"),
             end.errors);
  BOOST_TEST(!holds(end.errors, "4711081547110815"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_refused_turn_is_no_part_of_its_thread) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.message("One.");
  const ModelServer first(served(cassette));
  BOOST_REQUIRE(run.exec(first, {"one"}).status == 0);
  const auto runs = [&run] {
    std::size_t count = 0;
    for (const auto& entry :
         fs::directory_iterator(run.path("home/threads") / run.threads().front()))
      count += entry.path().filename() == "" ? 0 : 1;
    return count;
  };
  const std::size_t before = runs();

  const ModelServer none({});
  BOOST_TEST(run.exec(none, {"--record", "/nonexistent/x", "resume", "--last", "two"}).status == 2);
  BOOST_TEST(runs() == before);
  const ModelServer second(served(cassette));
  BOOST_TEST(run.exec(second, {"resume", "--last", "three"}).status == 0);
  BOOST_TEST(holds(second.requests().front().body, "One."));
}

BOOST_AUTO_TEST_CASE(a_wrong_flag_is_told_without_a_word_of_a_thread_that_nobody_keeps) {
  const ExecRun run;
  const ModelServer server({});
  ProgramStart start = run.exec({"--timeout", "0", "go"}, base_url(server));
  start.environment["CODEX_HOME"] = "/dev/null/home";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 2);
  BOOST_TEST(!holds(end.errors, "not kept"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_job_gets_a_note_of_what_was_refused) {
  const ExecRun run;
  const ModelServer server({});
  ProgramStart start = run.exec({"--timeout", "0", "go"}, base_url(server));
  start.environment["GITHUB_ACTIONS"] = "true";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(holds(end.errors, "::error title=sortie%3A usage::--timeout"), end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
