#include "ci/result.h"

#include <boost/test/unit_test.hpp>

#include "core/base/exit_code.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "tests/fakes/scripted_model.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

const Redactor& redactor() {
  static const Redactor one(std::vector<Secret>{{"KEY", "s3cret-value"}});
  return one;
}

RunEvent output(const std::string& id, int code) {
  ExitStatus exit;
  exit.code = code;
  return RunEvent{
      1,
      ToolOutputRecord{
          .call_id = id, .tool = "shell", .success = code == 0, .exit = exit, .duration = 250ms}};
}

RunEvent approval(const std::string& id, const char* decision) {
  const Json actions = Json::array({Json::object({{"argv", Json::array({"pytest", "-q"})}})});
  return approval_event(
      1, {.call_id = id, .name = "shell"}, actions,
      Json::object({{"decision", decision},
                    {"rule", Json::object({{"file", "p"}, {"line", 2}, {"text", "deny: x"}})},
                    {"reason", "because"}}));
}

Tally counted() {
  Tally tally;
  Response answer = response({assistant("hi")}, Usage{100, 40, 20, 5});
  answer.duration = 2s;
  tally.on({1, TurnStarted{}});
  tally.on({1, RetryRecord{}});
  tally.on({1, PacedWait{.limit = "openai", .expected = 200ms}});
  tally.on({1, PacedWait{.limit = "openai", .expected = 200ms, .waited = 150ms}});
  tally.on(model_response_event(1, answer));
  tally.on(approval("c1", "allow"));
  tally.on(tool_call_event(1, {.call_id = "c1"}));
  tally.on(output("c1", 1));
  tally.on({2, TurnStarted{}});
  answer.served_model = "other";
  tally.on(model_response_event(2, answer));
  tally.on(approval("c2", "deny"));
  return tally;
}

void check_schema(const Json& result) {
  const auto findings = JsonSchema(result_schema()).check(result);
  BOOST_TEST(findings.empty(), describe(findings));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(result)

BOOST_AUTO_TEST_CASE(the_numbers_are_added_up_from_the_events) {
  const Tally tally = counted();

  BOOST_TEST((tally.usage == Usage{200, 80, 40, 10}));
  BOOST_TEST((tally.usage_by_model.at("other") == Usage{100, 40, 20, 5}));
  BOOST_TEST(tally.served_model == "other");
  BOOST_TEST(write_json(tally.counts_json()) ==
             R"({"turns":2,"tool_calls":1,"denials":1,"audited":0,"retries":1,"check_hits":0,)"
             R"("connections":0,"denied_connections":0})");
  BOOST_TEST(write_json(tally.durations_json(5s)) ==
             R"({"total_ms":5000,"model_ms":4000,"tools_ms":250,"verification_ms":0,)"
             R"("rate_limit_ms":150,"own_ms":600})");
  BOOST_TEST(tally.last_action == "'pytest -q' exit 1");
  BOOST_REQUIRE(tally.denials.size() == 1u);
  BOOST_TEST(tally.denials[0].reason == "because");
  BOOST_TEST(tally.denials[0].rule->line == 2);
}

BOOST_AUTO_TEST_CASE(the_same_denial_is_counted_and_the_most_frequent_comes_first) {
  Tally tally;
  const auto decide = [&](const char* name, Json decision) {
    const Json actions = Json::array({Json::object({{"argv", Json::array({name})}})});
    decision.set("reason", "because");
    tally.on(approval_event(1, {.call_id = "c", .name = "shell"}, actions, std::move(decision)));
  };
  const Json denied = Json::object({{"decision", "deny"},
                                    {"would_allow", Json::object({{"commands", Json::array()}})},
                                    {"would_allow_yaml", "commands: []"}});
  const Json audited =
      Json::object({{"decision", "allow"}, {"audited", true}, {"strict", "forbid"}});
  for (const char* name : {"a", "b", "b"}) decide(name, denied);
  for (const char* name : {"c", "d", "d", "d"}) decide(name, audited);
  decide("e", Json::object({{"decision", "allow"}}));

  const Json json = result_json({}, tally);

  check_schema(json);
  const auto lines = [](const Json& list) {
    std::string text;
    for (const Json& each : list.items())
      text += each["actions"].items().at(0)["argv"].items().at(0).text() + "x" +
              each["count"].text() + " " + each.string_at("decision") + " " +
              each.string_at("would_allow_yaml") + ";";
    return text;
  };
  BOOST_TEST(lines(json["denials"]) == "bx2 deny commands: [];ax1 deny commands: [];");
  BOOST_TEST(lines(json["audited"]) == "dx3 forbid ;cx1 forbid ;");
  BOOST_TEST(json["counts"].integer_at("denials") == 3);
  BOOST_TEST(json["counts"].integer_at("audited") == 4);
}

BOOST_AUTO_TEST_CASE(denied_connections_are_counted_by_host_and_port) {
  Tally tally;
  const auto denied = [&](const char* host, int port, const char* entry) {
    tally.on({1, NetworkRecord{
                     .host = host, .port = port, .reason = "not listed", .would_allow = entry}});
  };
  denied("10.0.0.1", 443, "");
  for (int i = 0; i < 7; ++i) denied("a.example", 443, "a.example:443");
  denied("a.example", 80, "a.example:80");
  denied("", 0, "");
  tally.on({1, NetworkRecord{.state = ConnectionState::opened, .host = "b.example"}});

  const Json json = result_json({}, tally);

  check_schema(json);
  std::string lines;
  for (const Json& one : json["network_denials"].items())
    lines += one.string_at("host") + ":" + one["port"].text() + "x" + one["count"].text() + " " +
             one.string_at("would_allow_yaml") + ";";
  BOOST_TEST(lines ==
             "a.example:443x7 network: {allow: [\"a.example:443\"]};10.0.0.1:443x1 ;"
             "a.example:80x1 network: {allow: [\"a.example:80\"]};:0x1 ;");
  BOOST_TEST(json["network_denials"].items()[1]["would_allow"].is_null());
  BOOST_TEST(json["counts"].integer_at("denied_connections") == 10);
  BOOST_TEST(json["denials"].items().empty());
}

BOOST_AUTO_TEST_CASE(calls_side_by_side_keep_their_own_commands) {
  Tally tally;
  for (const char* id : {"one", "two"})
    tally.on(approval_event(
        1, {.call_id = id, .name = id},
        Json::array({Json::object({{"argv", Json::array({std::string("run-") + id})}})}),
        Json::object({{"decision", "allow"}})));

  tally.on(output("one", 1));

  BOOST_TEST(tally.last_action == "'run-one' exit 1");
}

BOOST_AUTO_TEST_CASE(the_last_command_is_told_as_it_was_sent) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"sh", "-c", "make test | tail -3"}, "'make test | tail -3' exit 1"},
      {{"bash", "-lc", "make test"}, "'make test' exit 1"},
      {{"sh", "-c", "make", "test"}, "'sh -c make test' exit 1"},
      {{"make", "-C", "src"}, "'make -C src' exit 1"},
  };
  for (const auto& [argv, said] : rows) {
    Tally tally;
    tally.on(approval_event(1, {.call_id = "one", .name = "shell"},
                            Json::array({Json::object({{"argv", Json::strings(argv)}})}),
                            Json::object({{"decision", "allow"}})));
    tally.on(output("one", 1));
    BOOST_TEST(tally.last_action == said);
  }
}

BOOST_AUTO_TEST_CASE(trouble_with_a_server_of_tools_is_a_warning_of_the_result) {
  Tally tally;
  tally.on(mcp_server_event(0, {.server = "one", .state = ServerState::started}));
  tally.on(mcp_server_event(
      0, {.server = "gone", .state = ServerState::failed, .detail = "no\nlicense"}));

  BOOST_TEST(
      tally.warnings() == std::vector<std::string>{"The MCP server gone can't be used: no license"},
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_last_command_may_be_a_verification) {
  Tally tally = counted();
  ExitStatus killed;
  killed.ending = Ending::timed_out;
  killed.duration = 3s;

  tally.on({2, VerificationCompleted{{.command = "make test"}, killed}});

  BOOST_TEST(tally.last_action == "'make test' timed out");
  BOOST_TEST((tally.verification_time == 3s));
}

BOOST_AUTO_TEST_CASE(a_result_fits_its_schema_at_every_end) {
  for (const ExitCodeRow& row : exit_code_table()) {
    RunResult run;
    run.code = row.code;
    check_schema(result_json(run, Tally()));
  }
  check_schema(running_json("id", "key"));
}

BOOST_AUTO_TEST_CASE(a_full_result_says_it_all) {
  RunResult run;
  run.code = ExitCode::limited;
  run.reason = "the usage limit is reached";
  run.retry_after = 1500ms;
  run.run_id = "id";
  run.verification_before = VerificationResult{};
  run.verification = VerificationResult{{{"make", {}, true, false, "ok", 0}}, true, false};
  run.verified = true;
  run.ignored_changes = {"build/x"};
  run.digests = {{"task", "sha256:1"}};
  run.warnings = {"watch out"};

  const Json json = result_json(run, counted());

  check_schema(json);
  BOOST_TEST(json.string_at("status") == "limited");
  BOOST_TEST(json["retryable"].boolean());
  BOOST_TEST(json.integer_at("retry_after_s") == 2);
  BOOST_TEST(json["verified"].boolean());
  BOOST_TEST(json["verification"]["after"]["commands"].items().size() == 1u);
  BOOST_TEST(json["denials"].items().size() == 1u);
  BOOST_TEST(json["model"].string_at("served") == "other");
  BOOST_TEST(result_json(RunResult{}, Tally())["verified"].is_null());
}

BOOST_AUTO_TEST_CASE(nothing_to_do_is_a_success_with_its_own_status) {
  RunResult run;
  run.nothing_to_do = true;
  BOOST_TEST(status_of(run) == "nothing-to-do");
  run.code = ExitCode::budget;
  BOOST_TEST(status_of(run) == "budget");
}

BOOST_AUTO_TEST_CASE(result_json_is_written_whole_and_without_secrets) {
  TemporaryFolder folder;
  write_file(folder / "result.json", result_text(running_json("id", "key"), redactor()));
  RunResult run;
  run.reason = "it said s3cret-value";

  write_file(folder / "result.json", result_text(result_json(run, Tally()), redactor()));

  const Json json = parse_json(read_file(folder / "result.json"));
  BOOST_TEST(json.string_at("reason") == "it said [REDACTED:KEY]");
  BOOST_TEST(json.string_at("status") == "success");
}

BOOST_AUTO_TEST_CASE(the_last_line_is_one_line_that_says_what_to_do) {
  RunResult run;
  run.code = ExitCode::budget;
  run.reason = "turns 41 of 41";
  run.next = "--max-turns 82";
  BOOST_TEST(last_line(run, "'pytest -q' exit 1", "out", redactor()) ==
             "sortie: budget (4): turns 41 of 41; last: 'pytest -q' exit 1; next: --max-turns 82; "
             "see out/result.json");

  run.reason = "No file was changed.";
  BOOST_TEST(last_line(run, "", "", redactor()) ==
             "sortie: budget (4): No file was changed; next: --max-turns 82");

  run.reason = "bad\n::error::\x1b[31m s3cret-value";
  run.next = "";
  BOOST_TEST(last_line(run, "", "", redactor()) ==
             "sortie: budget (4): bad ::error:: [31m [REDACTED:KEY]");
}

BOOST_AUTO_TEST_SUITE_END()
