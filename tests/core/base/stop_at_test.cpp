#include "core/base/threads.h"

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>

using namespace sortie;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// Waits until the token is asked to stop. The time is there for a test that fails.
bool is_asked(const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, token, 60s, [] { return false; });
  return token.stop_requested();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stop_at)

BOOST_AUTO_TEST_CASE(the_time_asks_to_stop_and_leaves_the_other_token_alone) {
  std::stop_source outer;
  const auto time = Clock::now() + 5ms;
  const DeadlineStop limit(outer.get_token(), time);
  BOOST_TEST(is_asked(limit.token()));
  BOOST_TEST((Clock::now() >= time));
  BOOST_TEST(!outer.stop_requested());
}

BOOST_AUTO_TEST_CASE(a_time_that_has_passed_asks_at_once) {
  const DeadlineStop limit({}, Clock::now() - 1h);
  BOOST_TEST(is_asked(limit.token()));
}

BOOST_AUTO_TEST_CASE(the_other_token_asks_before_the_time) {
  std::stop_source outer;
  const DeadlineStop limit(outer.get_token(), Clock::now() + 24h);
  BOOST_TEST(!limit.token().stop_requested());
  outer.request_stop();
  BOOST_TEST(limit.token().stop_requested());
  // One that was asked before is heard too.
  BOOST_TEST(DeadlineStop(outer.get_token(), Clock::now() + 24h).token().stop_requested());
}

BOOST_AUTO_TEST_CASE(what_is_over_before_its_time_asks_nobody) {
  std::optional<DeadlineStop> limit(std::in_place, std::stop_token(), Clock::now() + 24h);
  const std::stop_token token = limit->token();
  limit.reset();
  BOOST_TEST(!token.stop_requested());
}

BOOST_AUTO_TEST_SUITE_END()
