#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "core/agent/loop.h"
#include "tests/core/agent/windowed_model.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(costs_of_the_loop)

BOOST_AUTO_TEST_CASE(a_cost_is_reserved_before_a_request_and_counted_after_it) {
  const ModelPrice price{.input = 1, .cached_input = 0.1, .output = 10};
  Flight flight({.cost = 0.05}, {terms(price)});
  flight.model.usage = [](std::int64_t) {
    return Usage{.input_tokens = 1000, .cached_input_tokens = 500, .output_tokens = 900};
  };

  const LoopResult result = flight.run();

  // Each response costs 0.00955, and 0.01 and a little is reserved for the next.
  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.kind == "cost");
  BOOST_TEST(
      result.reason.starts_with("cost 0.048 of 0.05 USD at turn 5, and the next request may take "),
      result.reason);
  BOOST_TEST(result.next == "--max-cost 0.08, or a model.max_output_tokens below 1000 in the task");
  const auto exhausted = flight.events.data_of("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(write_json(exhausted[0]) == R"({"which":"cost","limit":50000,"used":47750})");
  BOOST_TEST(flight.events.data_of("model.response")[0]["cost_usd"].text() == "0.00955");
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(a_fallback_that_is_dearer_is_reserved_for) {
  const ModelPrice cheap{.input = 0, .output = 1};
  const ModelPrice dear{.input = 0, .output = 100};
  Flight flight({.cost = 0.09}, {terms(cheap), terms(dear)});

  BOOST_TEST(flight.run().kind == "cost");
  BOOST_TEST(flight.model.sizes.empty());
}

BOOST_AUTO_TEST_CASE(tokens_are_reserved_for_the_model_that_is_asked) {
  const struct {
    const char* name;
    std::int64_t first, second;  ///< tokens that the model may answer with
    std::size_t requests;
    bool told = true;  ///< whether they can be told to answer more shortly
  } rows[] = {
      {"one that answers at length takes over", 1'000, 6'000, 1, false},
      {"one that answers at length takes over, and is told to be short", 1'000, 6'000, 4},
      {"one that answers shortly takes over", 6'000, 1'000, 4},
      {"both shortly", 1'000, 1'000, 4},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ModelLimits first = terms();
      ModelLimits second = terms();
      first.max_output_tokens = row.first;
      second.max_output_tokens = row.second;
      first.takes_output_limit = second.takes_output_limit = row.told;
      Flight flight({.tokens = 6'050}, {first, second});
      flight.model.fall_back_at = 0;
      flight.model.turns = 3;

      const LoopResult result = flight.run();

      BOOST_TEST(flight.model.sizes.size() == row.requests);
      BOOST_TEST((result.code == (row.requests == 4 ? ExitCode::success : ExitCode::budget)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_response_is_recorded_with_the_model_that_gave_it) {
  ModelLimits small = terms();
  small.name = "small";
  Flight flight({}, {terms(), small});
  flight.model.fall_back_at = 1;
  flight.model.turns = 1;

  flight.run();

  const auto responses = flight.events.data_of("model.response");
  BOOST_REQUIRE(responses.size() == 2u);
  BOOST_TEST(responses[0].string_at("model") == "scripted");
  BOOST_TEST(responses[0].integer_at("source", -1) == 0);
  BOOST_TEST(responses[1].string_at("model") == "small");
  BOOST_TEST(responses[1].integer_at("source", -1) == 1);
}

BOOST_AUTO_TEST_CASE(a_response_that_was_cut_counts_with_all_that_came) {
  Flight flight;
  flight.model.turns = 0;
  flight.model.usage = [](std::int64_t) { return std::nullopt; };
  flight.run();
  const std::int64_t without = flight.budget.tokens();
  Response cut = response({assistant("Round and round. ")}, std::nullopt);
  cut.repeated = "Round and round. ";
  cut.cut_bytes = 8'000;
  ScriptedModel model;
  model.add(std::move(cut));
  model.add(response({assistant("Done.")}));
  EventList events;
  Budget budget({}, flight.clock);
  Loop loop({model, flight.tools, events, budget}, ModelSettings{.model = "m"});

  BOOST_TEST((loop.run({user("Do it.")}, {}).code == ExitCode::success));

  BOOST_TEST(without < 100);
  const Json tokens = events.data_of("model.response").at(0)["tokens"];
  BOOST_TEST(tokens.integer_at("output_tokens") == 2'000);
}

BOOST_AUTO_TEST_CASE(a_price_that_is_not_known_is_no_price_of_nothing) {
  Flight flight({.cost = 0.000001});
  flight.model.turns = 2;

  BOOST_TEST((flight.run().code == ExitCode::success));
  for (const Json& response : flight.events.data_of("model.response"))
    BOOST_TEST(response["cost_usd"].is_null());
}

BOOST_AUTO_TEST_CASE(no_run_passes_its_cost_by_more_than_the_output_of_one_response) {
  std::mt19937 random(4);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int ended_by_cost = 0;
  for (int run = 0; run < 300; ++run) {
    const ModelPrice price{.input = static_cast<double>(any(1, 500)) / 100,
                           .cached_input = static_cast<double>(any(0, 100)) / 100,
                           .cache_write = static_cast<double>(any(1, 700)) / 100,
                           .output = static_cast<double>(any(100, 8000)) / 100};
    const double limit = static_cast<double>(any(1, 400)) / 1000;
    const double ratio = static_cast<double>(any(50, 200)) / 100;
    Flight flight({.turns = 500, .cost = limit}, {terms(price)});
    flight.model.turns = 100;
    flight.outputs_of(static_cast<std::size_t>(any(0, 3000)));
    flight.model.usage = [&](std::int64_t input) -> std::optional<Usage> {
      if (any(0, 9) == 0) return {};
      Usage usage;
      usage.input_tokens = static_cast<std::int64_t>(static_cast<double>(input) * ratio);
      usage.cached_input_tokens = any(0, usage.input_tokens);
      usage.cache_write_input_tokens = any(0, usage.input_tokens - usage.cached_input_tokens);
      usage.output_tokens = any(0, kMaxOutput);
      return usage;
    };

    const LoopResult result = flight.run();

    ended_by_cost += result.kind == "cost" ? 1 : 0;
    const Cost allowed = Cost::usd(limit) + tokens_at(kMaxOutput, price.output);
    BOOST_TEST((flight.budget.cost() <= allowed), flight.budget.cost().exact() << " of " << limit);
  }
  BOOST_TEST(ended_by_cost > 200);
}

BOOST_AUTO_TEST_CASE(estimates_stand_in_for_usage_that_is_missing_and_it_is_said_once) {
  Flight flight({}, {terms(ModelPrice{.input = 1, .output = 1})});
  flight.model.turns = 3;
  flight.model.usage = [](std::int64_t) { return std::nullopt; };

  flight.run();

  const auto responses = flight.events.data_of("model.response");
  BOOST_REQUIRE(responses.size() == 4u);
  for (const Json& each : responses) {
    BOOST_TEST(each["tokens_estimated"].boolean());
    BOOST_TEST(each["tokens"].integer_at("input_tokens") > 0);
    BOOST_TEST(each["cost_usd"].real().value_or(0) > 0);
  }
  BOOST_TEST(flight.budget.tokens() > 0);
  BOOST_TEST(flight.events.data_of("check.hit").size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
