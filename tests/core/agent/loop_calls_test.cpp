// Which calls of a response are run, in which order, and what the others are answered.

#include <boost/test/unit_test.hpp>

#include "tests/core/agent/loop_flight.h"

using namespace sortie;
using namespace sortie::test;

namespace {

CallRecord forbidden(const std::string& id) {
  return {.output = {id, "no"}, .verdict = CallVerdict::forbidden, .reason = "forbidden"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_calls)

BOOST_AUTO_TEST_CASE(a_call_id_used_twice_in_a_response_is_answered_and_not_run_again) {
  LoopFlight flight;
  flight.model.add(response({call("c1"), call("c1")}));
  flight.model.add(response({call("c2")}));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  const std::vector<std::string> run = {"c1", "c2"};
  BOOST_TEST(flight.tools.dispatched == run, boost::test_tools::per_element());
  BOOST_TEST(flight.calls_are_paired());
  BOOST_TEST(flight.output_of(1).find("was used before") != std::string::npos);
  BOOST_TEST(flight.events.data_of("tool.output").size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_server_that_numbers_its_calls_anew_each_turn_is_borne) {
  LoopFlight flight;
  Item sent = call("0");
  sent.received = R"({"type":"function_call","call_id":"0","name":"shell","arguments":"{}"})";
  flight.model.add(response({call("0"), call("1")}));
  flight.model.add(response({call("0"), call("1")}));
  flight.model.add(response({sent, call("0_3")}));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  const std::vector<std::string> run = {"0", "1", "0_2", "1_2", "call_3_2", "0_3"};
  BOOST_TEST(flight.tools.dispatched == run, boost::test_tools::per_element());
  BOOST_TEST(flight.calls_are_paired());
  // The provider's own JSON goes back with the same id as the output.
  std::vector<std::string> received;
  for (const Item& item : flight.loop.history().items())
    if (!item.received.empty()) received.push_back(item.received);
  BOOST_REQUIRE(received.size() == 1u);
  BOOST_TEST(parse_json(received[0]).string_at("call_id") == "call_3_2");
  // Said once.
  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 1u);
  BOOST_TEST(hits[0].string_at("check") == "repeated_call_ids");
  // What was sent stays as it was.
  const auto& requests = flight.model.requests;
  for (std::size_t i = 1; i < requests.size(); ++i)
    for (std::size_t k = 0; k < requests[i - 1].size(); ++k)
      BOOST_TEST(write_json(to_json(requests[i][k])) == write_json(to_json(requests[i - 1][k])));
}

BOOST_AUTO_TEST_CASE(calls_beyond_the_budget_are_answered_not_run) {
  LoopFlight flight(TaskBudget{.tool_calls = 2});
  flight.model.add(response({call("c1"), call("c2"), call("c3"), call("c4")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.reason == "tool calls 2 of 2");
  BOOST_TEST(flight.tools.dispatched.size() == 2u);
  BOOST_TEST(flight.calls_are_paired());
  const auto exhausted = flight.events.data_of("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(write_json(exhausted[0]) == R"({"which":"tool_calls","limit":2,"used":2})");
}

BOOST_AUTO_TEST_CASE(calls_that_only_read_run_together_and_are_answered_in_order) {
  LoopFlight flight;
  flight.tools.reading = {"a", "b", "c", "e"};
  flight.model.add(response({call("a"), call("b"), call("w"), call("c"), call("a"), call("e")}));
  flight.model.add(response({assistant("Done.")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::success));
  BOOST_TEST((flight.tools.dispatched == std::vector<std::string>{"a", "b", "w", "c", "e"}));
  // "c" and "e" are parted by a call whose id was used before.
  BOOST_TEST((flight.tools.together == std::vector<std::size_t>{2}));
  BOOST_TEST(flight.budget.tool_calls() == 5);
  std::vector<std::string> outputs;
  for (const Item& item : flight.loop.history().items())
    if (const auto* one = std::get_if<ToolOutput>(&item.content)) outputs.push_back(one->call_id);
  BOOST_TEST((outputs == std::vector<std::string>{"a", "b", "w", "c", "a", "e"}));
}

BOOST_AUTO_TEST_CASE(calls_that_run_together_keep_to_the_budget) {
  LoopFlight flight({.tool_calls = 3});
  flight.tools.reading = {"a", "b", "c", "d", "e"};
  flight.model.add(response({call("a"), call("b"), call("c"), call("d"), call("e")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::budget));
  BOOST_TEST((flight.tools.together == std::vector<std::size_t>{3}));
  BOOST_TEST((flight.tools.dispatched == std::vector<std::string>{"a", "b", "c"}));
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(the_first_call_of_a_group_that_ends_the_run_says_why) {
  LoopFlight flight;
  flight.tools.reading = {"a", "b", "c"};
  flight.tools.all_at_once = true;
  flight.tools.results["a"] = {.output = {"a", "x"},
                               .verdict = CallVerdict::protected_path_changed,
                               .reason = "a command changed: .github"};
  flight.tools.results["b"] = forbidden("b");
  flight.model.add(response({call("a"), call("b"), call("c")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::integrity));
  BOOST_TEST(end.reason == "a command changed: .github");
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(a_call_that_is_not_run_keeps_the_server_that_offers_it) {
  LoopFlight flight;
  flight.tools.offered_by = Json::object({{"server", "one"}, {"tool", "echo"}});
  flight.tools.results["a"] = forbidden("a");
  flight.model.add(response({call("a"), call("b")}));

  flight.run();

  BOOST_TEST(write_json(flight.events.data_of("tool.call").back()["origin"]) ==
             R"({"server":"one","tool":"echo"})");
}

BOOST_AUTO_TEST_CASE(behind_a_call_that_ends_the_run_none_of_its_group_is_run) {
  LoopFlight flight;
  flight.tools.reading = {"a", "b", "c"};
  flight.tools.results["b"] = forbidden("b");
  flight.model.add(response({call("a"), call("b"), call("c")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::denied));
  BOOST_TEST((flight.tools.dispatched == std::vector<std::string>{"a", "b"}));
  BOOST_TEST(flight.output_of(2).starts_with("Not run: the run has ended"));
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_SUITE_END()
