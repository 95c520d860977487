#include "core/rates/rate_limiter.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "core/base/error.h"
#include "core/model/model.h"
#include "tests/fakes/fake_boot_time.h"
#include "tests/fakes/fake_clock.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using Ending = PacedRequest::Ending;

namespace {

struct Bench {
  FakeClock clock;
  MemoryRateStore store{clock};
  RatePace pace{.requests = 60};
  CountedInput counted = CountedInput::all;
  std::vector<PacedWait> waits;

  RateLimiter limiter() {
    return RateLimiter(
        {.name = "openai", .pace = pace, .counted = counted, .store = store, .clock = clock});
  }
  PacedRequest::Wait wait(PacedRequest& request, std::chrono::milliseconds budget = 1h,
                          std::stop_token stop = {}) {
    return request.wait(clock.steady() + budget, std::move(stop),
                        [this](const PacedWait& wait) { waits.push_back(wait); });
  }
  RateBucket bucket() {
    return store.state.queue("openai", clock.steady().time_since_epoch()).bucket;
  }
  std::size_t waiting() {
    return store.state.queue("openai", clock.steady().time_since_epoch()).waiting.size();
  }
  /// Takes turns until the next one would have to wait.
  void use_up(RateLimiter& limiter) {
    for (int i = 0; i < 3; ++i) wait(*limiter.begin({}));
    waits.clear();
    clock.sleeps.clear();
  }
};

/// A store that can't be had.
class NoStore : public RateStore {
 public:
  void change(const Step&) override { throw Error("the disk is gone", ExitCode::environment); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_limiter)

BOOST_AUTO_TEST_CASE(the_first_request_goes_at_once_and_says_nothing) {
  Bench bench;
  RateLimiter limiter = bench.limiter();

  BOOST_TEST((bench.wait(*limiter.begin({})).ending == Ending::turn));
  BOOST_TEST(bench.clock.sleeps.empty());
  BOOST_TEST(bench.waits.empty());
}

BOOST_AUTO_TEST_CASE(a_wait_is_told_when_it_begins_and_when_it_is_over) {
  Bench bench;
  RateLimiter limiter = bench.limiter();
  bench.use_up(limiter);

  BOOST_TEST((bench.wait(*limiter.begin({})).ending == Ending::turn));

  BOOST_REQUIRE(bench.waits.size() == 2u);
  const PacedWait& begun = bench.waits[0];
  BOOST_TEST(begun.limit == "openai");
  BOOST_TEST(begun.cause == "requests");
  BOOST_TEST(begun.ahead == 0);
  BOOST_TEST((begun.expected == 1030ms));
  BOOST_TEST(!begun.waited.has_value());
  BOOST_TEST((bench.waits[1].waited.value() >= 1030ms));
  BOOST_TEST((bench.waits[1].waited.value() <= 1040ms));
  BOOST_TEST(bench.waiting() == 0u);
}

BOOST_AUTO_TEST_CASE(a_short_wait_is_told_once) {
  Bench bench;
  bench.pace.requests = 6000;
  RateLimiter limiter = bench.limiter();
  for (int i = 0; i < 200 && bench.waits.empty(); ++i) bench.wait(*limiter.begin({}));

  BOOST_REQUIRE(bench.waits.size() == 1u);
  BOOST_TEST(bench.waits[0].waited.has_value());
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_a_wait_and_gives_up_the_place) {
  Bench bench;
  RateLimiter limiter = bench.limiter();
  bench.use_up(limiter);

  const auto request = limiter.begin({});
  BOOST_TEST((bench.wait(*request, 300ms).ending == Ending::out_of_time));
  BOOST_TEST(bench.waiting() == 0u);
  BOOST_REQUIRE(!bench.waits.empty());
  BOOST_TEST((bench.waits.back().waited == 300ms));
}

BOOST_AUTO_TEST_CASE(a_stop_ends_a_wait_and_gives_up_the_place) {
  Bench bench;
  RateLimiter limiter = bench.limiter();
  bench.use_up(limiter);
  std::stop_source stop;

  /// Asks for a stop in the middle of a wait.
  class StoppingClock : public FakeClock {
   public:
    std::stop_source* source = nullptr;
    bool sleep_for(std::chrono::milliseconds duration, std::stop_token token) override {
      source->request_stop();
      return FakeClock::sleep_for(duration, token);
    }
  } clock;
  clock.source = &stop;
  clock.monotonic = bench.clock.monotonic;
  RateLimiter stopped({.name = "openai", .pace = bench.pace, .store = bench.store, .clock = clock});
  const auto request = stopped.begin({});

  BOOST_CHECK_THROW(request->wait(clock.steady() + 1h, stop.get_token(), [](const PacedWait&) {}),
                    Stopped);
  BOOST_TEST(clock.sleeps.size() == 1u);
  BOOST_TEST(bench.waiting() == 0u);
}

BOOST_AUTO_TEST_CASE(what_one_run_is_refused_all_wait_for) {
  Bench bench;
  RateLimiter one = bench.limiter();
  RateLimiter other = bench.limiter();
  const auto refused = one.begin({});
  bench.wait(*refused);
  refused->refuse(20s);

  const auto began = bench.clock.steady();
  BOOST_TEST((bench.wait(*other.begin({})).ending == Ending::turn));

  BOOST_TEST((bench.clock.steady() - began >= 20s));
  BOOST_TEST(bench.waits.at(0).cause == "paused");
  BOOST_TEST(bench.bucket().refused == 1);
}

BOOST_AUTO_TEST_CASE(a_pause_beyond_the_deadline_is_not_waited_for) {
  Bench bench;
  RateLimiter limiter = bench.limiter();
  const auto refused = limiter.begin({});
  bench.wait(*refused);
  refused->refuse(20min);
  bench.clock.sleeps.clear();

  const auto wait = bench.wait(*limiter.begin({}), 10min);

  BOOST_TEST((wait.ending == Ending::paused));
  BOOST_TEST((wait.pause == 20min));
  BOOST_TEST(bench.clock.sleeps.empty());
  BOOST_TEST(bench.waiting() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_was_refused_comes_before_those_behind_it) {
  Bench bench;
  RateLimiter limiter = bench.limiter();
  const auto refused = limiter.begin({});
  bench.wait(*refused);
  const auto later = limiter.begin({});
  BOOST_TEST((bench.wait(*later, 1s).ending == Ending::turn));
  refused->refuse({});
  // Of those that wait, the one that came first is the first.
  RateTurn turn;
  bench.store.change([&](RateState& state, std::chrono::nanoseconds now) {
    turn = state.ask("openai", bench.pace, {}, now);
  });
  BOOST_TEST((bench.wait(*refused).ending == Ending::turn));
  BOOST_TEST(bench.waits.back().ahead == 0);
}

BOOST_AUTO_TEST_CASE(tokens_are_reserved_by_estimate_and_corrected_by_what_was_counted) {
  Bench bench;
  bench.pace = {.tokens = 60'000};
  RateLimiter limiter = bench.limiter();
  const auto next = [&bench] { return bench.bucket().next_tokens; };
  const auto now = bench.clock.steady().time_since_epoch();

  const auto request = limiter.begin({.input_tokens = 9'000, .max_output_tokens = 32'768});
  bench.wait(*request);
  BOOST_TEST((next() == now + 10'300ms));  // 9,000, and 1,000 of a usual response
  request->settle(Usage{.input_tokens = 18'000, .output_tokens = 2'000});
  BOOST_TEST((next() == now + 20'600ms));
  BOOST_TEST(bench.bucket().output_tokens == 1125);

  // The next estimate follows what was counted: twice what was estimated.
  const auto more = limiter.begin({.input_tokens = 9'000, .max_output_tokens = 100});
  bench.wait(*more);
  const auto taken = bench.clock.steady().time_since_epoch();
  BOOST_TEST((next() - taken >= 18'100 * 1030us - 1ms));
  // The provider did not count a request that it refused.
  more->refuse(1s);
  BOOST_TEST((next() - taken < 1s));
}

BOOST_AUTO_TEST_CASE(input_from_a_cache_is_not_counted_where_the_provider_does_not) {
  Bench bench;
  bench.pace = {.tokens = 60'000};
  bench.counted = CountedInput::uncached;
  RateLimiter limiter = bench.limiter();
  const auto request = limiter.begin({.input_tokens = 10'000, .max_output_tokens = 100});
  const auto now = bench.clock.steady().time_since_epoch();
  bench.wait(*request);
  request->settle(
      Usage{.input_tokens = 10'000, .cached_input_tokens = 9'100, .output_tokens = 100});

  BOOST_TEST((bench.bucket().next_tokens == now + 1030ms));
}

BOOST_AUTO_TEST_CASE(without_the_state_no_turn_is_had_but_no_response_is_lost) {
  Bench bench;
  bench.pace.tokens = 1000;
  NoStore store;
  RateLimiter limiter({.name = "openai", .pace = bench.pace, .store = store, .clock = bench.clock});
  const auto request = limiter.begin({});

  BOOST_CHECK_THROW(bench.wait(*request), Error);
  BOOST_CHECK_NO_THROW(request->settle(Usage{.input_tokens = 1}));
  BOOST_CHECK_NO_THROW(request->refuse(1s));
}

BOOST_AUTO_TEST_SUITE_END()
