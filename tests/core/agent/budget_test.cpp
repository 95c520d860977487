#include "core/agent/budget.h"

#include <boost/test/unit_test.hpp>

#include "tests/fakes/fake_clock.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(budget)

BOOST_AUTO_TEST_CASE(a_request_is_judged_by_what_it_may_cost_at_most) {
  FakeClock clock;
  Budget budget({.tokens = 1000}, clock);
  budget.count_tokens({.input_tokens = 900, .cached_input_tokens = 500, .output_tokens = 100});

  BOOST_TEST(budget.tokens() == 500);
  BOOST_TEST(!budget.before_request(300, 200));
  const auto out = budget.before_request(301, 200);
  BOOST_REQUIRE(out.has_value());
  BOOST_TEST(out->text == "tokens 500 of 1000, and the next request may take 501");
  BOOST_TEST(out->next == "--max-tokens 2000");
}

BOOST_AUTO_TEST_CASE(a_limit_is_reached_exactly_when_it_is_used_up) {
  FakeClock clock;
  Budget budget({.turns = 1, .tool_calls = 1, .time = 10s}, clock);

  BOOST_TEST(!budget.before_request(0, 0));
  BOOST_TEST(!budget.before_tool_call());
  budget.count_turn();
  budget.count_tool_call();
  BOOST_TEST((budget.before_request(0, 0)->which == BudgetKind::turns));
  BOOST_TEST((budget.before_tool_call()->which == BudgetKind::tool_calls));

  clock.monotonic += 9999ms;
  BOOST_TEST(!budget.time_up());
  BOOST_TEST((budget.time_left() == 1ms));
  // A call that is given the time left must not end before the time is up.
  clock.monotonic += 600us;
  BOOST_TEST(!budget.time_up());
  BOOST_TEST((budget.time_left() == 1ms));
  clock.monotonic -= 600us;
  clock.monotonic += 10s;
  BOOST_TEST((budget.time_left() == 0ms));
  const BudgetLimit expected{BudgetKind::time, 10'000, 19'999, "time 19 s of 10 s",
                             "--timeout 20s"};
  BOOST_TEST((budget.time_up() == expected));
}

BOOST_AUTO_TEST_CASE(a_short_time_is_told_in_the_unit_of_its_limit) {
  FakeClock clock;
  Budget budget({.time = 4s}, clock);
  clock.monotonic += 4027ms;
  BOOST_REQUIRE(budget.time_up());
  BOOST_TEST(budget.time_up()->text == "time 4.0 s of 4 s");
}

BOOST_AUTO_TEST_CASE(the_notice_comes_once_at_four_fifths_of_any_of_the_three) {
  const struct {
    const char* name;
    int turns;
    std::int64_t tokens;
    std::chrono::seconds time;
    bool due;
  } rows[] = {
      {"nothing used", 0, 0, 0s, false}, {"just below", 7, 799, 79s, false},
      {"turns", 8, 0, 0s, true},         {"tokens", 0, 800, 0s, true},
      {"time", 0, 0, 80s, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeClock clock;
      Budget budget({.turns = 10, .tokens = 1000, .time = 100s}, clock);
      for (int i = 0; i < row.turns; ++i) budget.count_turn();
      budget.count_tokens({.output_tokens = row.tokens});
      clock.monotonic += row.time;

      BOOST_TEST(budget.take_notice().has_value() == row.due);
      BOOST_TEST(!budget.take_notice());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_small_budget_lowers_what_is_asked_for_down_to_what_is_of_use) {
  const ModelLimits codex{.max_output_tokens = 32'768,
                          .price = ModelPrice{.input = 1.25, .output = 10}};
  const ModelLimits small{.max_output_tokens = 1000, .price = ModelPrice{.input = 1, .output = 10}};
  ModelLimits signed_in = codex;
  signed_in.takes_output_limit = false;
  const struct {
    const char* name;
    double cost;
    std::int64_t tokens;
    std::int64_t input;
    std::vector<ModelLimits> models;
    std::int64_t paid;
    bool may_be_sent;
  } rows[] = {
      {"all of it is paid for", 1, 1'000'000, 1000, {codex}, 0, true},
      {"a quarter of it", 0.10, 1'000'000, 1000, {codex}, 8192, true},
      {"the least", 0.03, 1'000'000, 1000, {codex}, 2048, true},
      {"less than is of use", 0.02, 1'000'000, 1000, {codex}, 0, false},
      {"the input alone is too dear", 0.10, 1'000'000, 100'000, {codex}, 0, false},
      {"the tokens", 100, 20'000, 1000, {codex}, 16'384, true},
      {"the tokens end", 100, 2000, 1000, {codex}, 0, false},
      {"the task's own limit is of use to it", 0.012, 1'000'000, 1000, {small}, 0, true},
      {"and has to be paid for", 0.010, 1'000'000, 1000, {small}, 0, false},
      {"the dearest of those that may answer", 0.10, 1'000'000, 1000, {small, codex}, 8192, true},
      {"who can't be told has to be paid for", 0.10, 1'000'000, 1000, {signed_in}, 0, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeClock clock;
      const Budget budget({.tokens = row.tokens, .cost = row.cost, .cost_given = true}, clock,
                          row.models);
      const std::int64_t paid = budget.paid_output(row.input);
      BOOST_TEST(paid == row.paid);
      const auto out = budget.before_request(row.input, row.models[0].max_output_tokens, 0, paid);
      BOOST_TEST(!out.has_value() == row.may_be_sent);
    }
  }
}

BOOST_AUTO_TEST_CASE(where_nothing_of_use_is_paid_for_both_remedies_are_named) {
  FakeClock clock;
  const Budget budget(
      {.tokens = 1'000'000, .cost = 0.02, .cost_given = true}, clock,
      {{.max_output_tokens = 32'768, .price = ModelPrice{.input = 1.25, .output = 10}}});

  const auto out = budget.before_request(1000, 32'768);
  BOOST_REQUIRE(out.has_value());
  BOOST_TEST(out->next.starts_with("--max-cost "));
  BOOST_TEST(out->next.ends_with(", or a model.max_output_tokens below 2048 in the task"));
  const auto dear = budget.before_request(100'000, 32'768);
  BOOST_TEST(dear->next.find("max_output_tokens") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_left_is_never_negative) {
  FakeClock clock;
  Budget budget({.turns = 5, .tool_calls = 6, .tokens = 10, .time = 1s}, clock);
  budget.count_tokens({.output_tokens = 99});
  clock.monotonic += 5s;

  BOOST_TEST(write_json(budget.left_json()) ==
             R"({"turns":5,"tool_calls":6,"tokens":0,"time_ms":0})");
}

BOOST_AUTO_TEST_SUITE_END()
