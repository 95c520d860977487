#include <boost/test/unit_test.hpp>
#include <set>

#include "core/provider/wires.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/end_to_end/scenario.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const std::vector<Scenario>& scenarios() {
  static const auto all = load_scenarios(SORTIE_SOURCE_DIR "/tests/end_to_end/scenarios");
  return all;
}

/// What a case is to end in on this wire.
Json expected(const Scenario& scenario, const std::string& wire) {
  Json ends = scenario.data["ends"];
  for (const auto& [name, value] : scenario.data["ends_on"][wire].members()) ends.set(name, value);
  return ends;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> result;
  for (const Json& item : list.items()) result.push_back(item.text());
  return result;
}

void check_request(const ReceivedRequest& request) {
  BOOST_TEST(request.line.starts_with("POST /"));
  BOOST_TEST(header_value(request.headers, "Accept-Encoding") == "identity");
}

void check_retries(const Json& ends, const ScenarioEnd& end) {
  if (!ends.find("retries")) return;
  const auto& rows = ends["retries"].items();
  BOOST_TEST(end.retries.size() == rows.size());
  for (std::size_t i = 0; i < std::min(rows.size(), end.retries.size()); ++i) {
    const Json& failure = end.retries[i]["failure"];
    BOOST_TEST(failure.string_at("kind") == rows[i].string_at("kind"),
               failure.string_at("message"));
    BOOST_TEST(failure.integer_at("status") == rows[i].integer_at("status"));
    BOOST_TEST(!failure.string_at("message").empty());
  }
}

void check_waits(const Json& ends, const ScenarioEnd& end) {
  if (!ends.find("waits")) return;
  std::vector<std::int64_t> waits;
  std::vector<std::int64_t> rows;
  for (const auto wait : end.waits) waits.push_back(wait.count());
  for (const Json& row : ends["waits"].items()) rows.push_back(row.integer().value_or(-1));
  BOOST_TEST(waits == rows, boost::test_tools::per_element());
  // The record has the same waits.
  BOOST_TEST(end.retries.size() == waits.size());
  for (std::size_t i = 0; i < std::min(waits.size(), end.retries.size()); ++i)
    BOOST_TEST(end.retries[i].integer_at("delay_ms") == waits[i]);
}

void check_counts(const Json& ends, const ScenarioEnd& end) {
  const auto count = [&ends](const char* name, std::size_t found) {
    if (ends.find(name))
      BOOST_TEST(static_cast<std::int64_t>(found) == ends.integer_at(name), name);
  };
  count("requests", end.requests.size());
  count("connections", static_cast<std::size_t>(end.connections));
  count("proxied", end.proxied.size());
  count("fallback_requests", end.fallback_requests.size());
  count("fallbacks", end.fallbacks.size());
  count("message_bytes", end.message.size());
  if (ends.find("dropped")) {
    BOOST_REQUIRE(!end.fallbacks.empty());
    BOOST_TEST(end.fallbacks[0].integer_at("dropped_items") == ends.integer_at("dropped"));
  }
}

void check_words(const Json& ends, const ScenarioEnd& end) {
  if (ends.find("message")) BOOST_TEST(end.message == ends.string_at("message"));
  if (ends.find("kind")) BOOST_TEST(end.kind == ends.string_at("kind"));
  BOOST_TEST(end.reason.find(ends.string_at("reason")) != std::string::npos, end.reason);
  if (end.requests.empty()) return;
  const ReceivedRequest& last = end.requests.back();
  BOOST_TEST(last.body.find(ends.string_at("sees")) != std::string::npos, last.body);
  if (ends.find("line")) BOOST_TEST(last.line == ends.string_at("line"));
  if (ends.find("token"))
    BOOST_TEST(header_value(last.headers, "Authorization") == "Bearer " + ends.string_at("token"));
}

void check(const Json& ends, const ScenarioEnd& end) {
  BOOST_TEST(end.code == ends.integer_at("code"), end.reason);
  check_counts(ends, end);
  check_retries(ends, end);
  check_waits(ends, end);
  check_words(ends, end);
  if (ends.find("calls"))
    BOOST_TEST(end.calls == texts(ends["calls"]), boost::test_tools::per_element());
  if (ends.find("checks")) {
    std::vector<std::string> checks;
    for (const Json& hit : end.checks) checks.push_back(hit.string_at("check"));
    BOOST_TEST(checks == texts(ends["checks"]), boost::test_tools::per_element());
  }
  const auto retry_after = ends["retry_after_s"].integer();
  if (retry_after || end.code == 0) BOOST_TEST(end.retry_after_s == retry_after.value_or(-1));
  BOOST_TEST(end.transcript_problem == "");
  for (const auto& request : end.requests) check_request(request);
}

/// Cuts the first stream after each of its events. Once all that counts is there, it is no cut.
void play_each_event(const Scenario& scenario, const std::string& wire) {
  const WireStream whole = wire_stream(wire, scenario.data["server"].items().front()["stream"]);
  for (std::size_t events = 0; events < whole.needed; ++events) {
    BOOST_TEST_CONTEXT("after " << events << " events") {
      check(expected(scenario, wire), play(scenario, wire, static_cast<int>(events)));
    }
  }
}

const char* provider_of(const std::string& wire) {
  return wire == "responses" ? "openai" : wire == "chat" ? "openai-chat" : "anthropic";
}

/// The task's `model` in YAML.
std::string model_yaml(const Json& data, const std::string& wire) {
  std::string yaml = std::string("provider: ") + provider_of(wire) +
                     ", retries: " + std::to_string(data.integer_at("retries", 1));
  std::string limits;
  for (const auto& [name, value] : data["limits"].members())
    limits += (limits.empty() ? "" : ", ") + name + ": " + value.text() + "ms";
  if (!limits.empty()) yaml += ", timeout: {" + limits + "}";
  if (data["pin"].boolean()) yaml += ", pin: true";
  return yaml;
}

/// The whole program on the case: its exit code, requests, records and result are the same.
void run_program_on(const Scenario& scenario, const std::string& wire) {
  const ProviderRun run;
  run.write_model(model_yaml(scenario.data, wire));
  std::vector<ServedResponse> responses;
  for (const Json& reply : scenario.data["server"].items())
    for (std::int64_t i = 0; i < reply.integer_at("times", 1); ++i)
      responses.push_back(served_reply(wire, reply));
  const ModelServer server(responses);

  const ProgramEnd end = run.run(server);

  const Json ends = expected(scenario, wire);
  BOOST_TEST(end.status == ends.integer_at("code"), end.errors);
  std::string reason = ends.string_at("reason");
  if (reason.ends_with('.')) reason.pop_back();  // as in the last line
  BOOST_TEST(end.errors.find(reason) != std::string::npos, end.errors);
  if (ends.find("message")) BOOST_TEST(end.output == ends.string_at("message") + "\n");
  BOOST_TEST(static_cast<std::int64_t>(server.requests().size()) == ends.integer_at("requests"));
  const Json result = run.result();
  BOOST_TEST(result.integer_at("exit_code") == ends.integer_at("code"));
  const auto retry_after = ends["retry_after_s"].integer();
  BOOST_TEST(result["retry_after_s"].integer().value_or(-1) == retry_after.value_or(-1));
  const auto retries = run.records("model.retry");
  if (ends.find("retries")) {
    BOOST_TEST(retries.size() == ends["retries"].items().size());
    for (std::size_t i = 0; i < std::min(retries.size(), ends["retries"].items().size()); ++i)
      BOOST_TEST(retries[i]["failure"].string_at("kind") ==
                 ends["retries"].items()[i].string_at("kind"));
  }
  // Each retry has its line, with the reason and the wait.
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = end.errors.find("; trying again in ", at)) != std::string::npos;
       ++at)
    ++lines;
  BOOST_TEST(lines == retries.size());
}

/// Each case on each of its wires.
template <typename Play>
void on_each_wire(const Play& play_one) {
  for (const Scenario& scenario : scenarios())
    for (const std::string& wire : scenario.wires()) {
      if (!make_wire(wire)) continue;
      BOOST_TEST_CONTEXT(scenario.file << ".yaml: " << scenario.name() << " (" << wire << ")") {
        play_one(scenario, wire);
      }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_scenarios)

BOOST_AUTO_TEST_CASE(the_cases_are_many_and_each_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (const Scenario& scenario : scenarios()) {
    BOOST_TEST(names.insert(scenario.name()).second, scenario.name());
    BOOST_TEST(scenario.data["ends"].is_object(), scenario.name());
    // A key that nobody reads would be a promise that nobody keeps.
    const std::set<std::string> known = {
        "calls",     "checks",   "code",    "connections",   "dropped",       "fallback_requests",
        "fallbacks", "kind",     "line",    "message",       "message_bytes", "proxied",
        "reason",    "requests", "retries", "retry_after_s", "sees",          "token",
        "waits"};
    for (const auto& [key, value] : scenario.data["ends"].members())
      BOOST_TEST(known.contains(key), scenario.name() << ": " << key);
  }
  BOOST_TEST(names.size() >= 100u);
}

BOOST_AUTO_TEST_CASE(each_case_ends_as_it_says_on_each_wire) {
  on_each_wire([](const Scenario& scenario, const std::string& wire) {
    if (scenario.data["each_event"].boolean())
      play_each_event(scenario, wire);
    else
      check(expected(scenario, wire), play(scenario, wire));
  });
}

BOOST_AUTO_TEST_CASE(the_whole_program_ends_a_case_in_the_same_way) {
  on_each_wire([](const Scenario& scenario, const std::string& wire) {
    if (scenario.data["program"].boolean()) run_program_on(scenario, wire);
  });
}

BOOST_AUTO_TEST_SUITE_END()
