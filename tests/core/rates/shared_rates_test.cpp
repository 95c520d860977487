// Real processes that share a real file, by the machine's own clock.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/rates/boot_time.h"
#include "core/rates/rate_limiter.h"
#include "core/rates/rate_state_file.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

/// Keeps the time at which the state gave each turn.
class NotedStore : public RateStore {
 public:
  NotedStore(RateStore& store, int to) : store_(store), to_(to) {}
  void change(const Step& step) override {
    store_.change([&](RateState& state, nanoseconds now) {
      const std::int64_t before = state.queue("openai", now).bucket.taken;
      step(state, now);
      const std::int64_t ns = now.count();
      if (state.queue("openai", now).bucket.taken > before)
        write_all(to_, {reinterpret_cast<const char*>(&ns), sizeof ns});
    });
  }

 private:
  RateStore& store_;
  int to_;
};

struct Bench {
  TemporaryFolder folder;
  Pipe pipe = make_pipe();
  RatePace pace{.requests = 60, .window = 1s};

  /// A process that takes so many turns; less than 0: until it is killed.
  pid_t start(int turns) const {
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child != 0) return child;
    try {
      SystemClock clock;
      const SystemBootTime time;
      RateStateFile file({.path = folder / "state", .time = time, .clock = clock});
      NotedStore noted(file, pipe.write.get());
      RateLimiter limiter({.name = "openai", .pace = pace, .store = noted, .clock = clock});
      for (int i = 0; i != turns; ++i)
        limiter.begin({})->wait(clock.steady() + 5min, {}, [](const PacedWait&) {});
    } catch (const std::exception&) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  /// The times of the next turns.
  std::vector<nanoseconds> take(int count) const {
    std::vector<nanoseconds> times;
    for (int i = 0; i < count; ++i) {
      std::int64_t ns = 0;
      BOOST_REQUIRE(::read(pipe.read.get(), &ns, sizeof ns) == sizeof ns);
      times.emplace_back(ns);
    }
    return times;
  }
};

int end_of(pid_t child) {
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

std::int64_t most_in_a_window(const std::vector<nanoseconds>& times, nanoseconds window) {
  std::int64_t most = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    while (times[i] - times[first] >= window) ++first;
    most = std::max(most, static_cast<std::int64_t>(i - first + 1));
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_rates)

BOOST_AUTO_TEST_CASE(many_processes_together_stay_within_the_limit) {
  const Bench bench;
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) children.push_back(bench.start(18));
  const auto times = bench.take(180);
  for (const pid_t child : children) BOOST_TEST(end_of(child) == 0);

  BOOST_TEST(std::is_sorted(times.begin(), times.end()));
  BOOST_TEST(most_in_a_window(times, bench.pace.window) <= 60);
}

BOOST_AUTO_TEST_CASE(processes_that_are_killed_while_they_wait_hold_up_nobody_for_ever) {
  const Bench bench;
  std::vector<pid_t> killed;
  for (int i = 0; i < 6; ++i) killed.push_back(bench.start(-1));
  bench.take(20);
  for (const pid_t child : killed) ::kill(child, SIGKILL);
  for (const pid_t child : killed) end_of(child);
  const pid_t other = bench.start(30);

  BOOST_TEST(end_of(other) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
