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
  BOOST_TEST((budget.before_request(0, 0)->which == "turns"));
  BOOST_TEST((budget.before_tool_call()->which == "tool_calls"));

  clock.monotonic += 9999ms;
  BOOST_TEST(!budget.time_up());
  BOOST_TEST((budget.time_left() == 1ms));
  clock.monotonic += 10s;
  BOOST_TEST((budget.time_left() == 0ms));
  const Exhausted expected{"time", 10'000, 19'999, "time 19 s of 10 s", "--timeout 20s"};
  BOOST_TEST((budget.time_up() == expected));
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

BOOST_AUTO_TEST_CASE(what_is_left_is_never_negative) {
  FakeClock clock;
  Budget budget({.turns = 5, .tool_calls = 6, .tokens = 10, .time = 1s}, clock);
  budget.count_tokens({.output_tokens = 99});
  clock.monotonic += 5s;

  BOOST_TEST(write_json(budget.left_json()) ==
             R"({"turns":5,"tool_calls":6,"tokens":0,"time_ms":0})");
}

BOOST_AUTO_TEST_SUITE_END()
