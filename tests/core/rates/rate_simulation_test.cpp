#include "tests/core/rates/rate_simulation.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;
using namespace sortie::test;

// The numbers that docs/scale.md has are made by bench/rates.cpp, of the same simulation.
BOOST_AUTO_TEST_SUITE(rate_simulation)

BOOST_AUTO_TEST_CASE(a_thousand_runs_are_taken_by_a_server_that_limits) {
  const struct {
    const char* name;
    RateSimulation given;
  } rows[] = {
      {"requests are scarce", {.server = {.requests = 60}}},
      {"tokens are scarce", {.server = {.requests = 600, .tokens = 1'000'000}}},
      {"all at once", {.at_once = 1000, .server = {.requests = 600}}},
      {"none is killed", {.server = {.requests = 60}, .killed = 0}},
      {"the budget is scarce",
       {.server = {.requests = 600}, .killed = 0, .budget = 60, .budget_of_run = 1}},
  };
  for (const auto& row : rows) {
    const RateSimulated result = simulate(row.given);

    BOOST_TEST_CONTEXT(row.name << "\n" << result.text()) {
      BOOST_TEST(result.finished + result.refused_a_start == row.given.runs);
      BOOST_TEST(result.given_up == 0);
      BOOST_TEST(result.refused * 50 <= result.requests);
      if (row.given.budget > 0) {
        BOOST_TEST(result.refused_a_start > 0);
        BOOST_TEST(result.most_committed <= row.given.budget + 1e-6);
        BOOST_TEST(result.spent > row.given.budget * 0.9);
      } else {
        BOOST_TEST(result.refused_a_start == 0);
      }
      // By those that passed over a dead process's turn, or that were refused before.
      BOOST_TEST(result.overtaken <= 3u);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
