#include "core/agent/shared_budget.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <vector>

#include "core/agent/budget.h"
#include "tests/fakes/fake_clock.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

std::chrono::steady_clock::time_point some_time() {
  return std::chrono::steady_clock::time_point(2h);
}

/// Runs it in a process of its own.
template <typename Work>
pid_t in_process(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

int end_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_budget)

BOOST_AUTO_TEST_CASE(processes_at_the_same_time_never_use_more_than_the_limit_together) {
  constexpr int kProcesses = 6;
  constexpr int kLimit = 1000;
  SharedBudget pool(some_time());
  std::vector<pid_t> children;
  for (int share = 0; share < kProcesses; ++share)
    children.push_back(in_process([&] {
      FakeClock clock;
      Budget budget({.turns = 1000000, .tokens = kLimit}, clock);
      budget.share(pool, share);
      // Each request takes 7 tokens at most, and 3 in fact.
      while (!budget.set_aside(5, 2, 0, 0, true)) {
        budget.count_turn();
        budget.count_tokens({.input_tokens = 2, .output_tokens = 1});
      }
    }));
  for (const pid_t child : children) BOOST_TEST(end_of(child) == 0);

  BOOST_TEST(pool.others(-1).tokens <= kLimit);
  BOOST_TEST(pool.others(-1).tokens > kLimit - 7 * kProcesses);
  BOOST_TEST(pool.others(-1).turns == pool.others(-1).tokens / 3);
}

BOOST_AUTO_TEST_CASE(what_a_killed_process_had_set_aside_stays_used_until_it_is_settled) {
  SharedBudget pool(some_time());
  const int status = end_of(in_process([&] {
    FakeClock clock;
    Budget budget({.tokens = 100}, clock);
    budget.share(pool, 0);
    budget.set_aside(30, 30, 0, 0, true);
    ::raise(SIGKILL);
  }));
  BOOST_TEST(WIFSIGNALED(status));
  FakeClock clock;
  Budget other({.tokens = 100}, clock);
  other.share(pool, 1);

  BOOST_TEST(other.before_request(20, 20).has_value() == false);
  BOOST_TEST(other.before_request(21, 20).has_value());
  pool.settle(0);
  BOOST_TEST(!other.before_request(50, 50));
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_within_a_step_does_not_block_the_others) {
  SharedBudget pool(some_time());
  end_of(in_process([&] {
    pool.change(0, [](SharedBudget::Share& own, const SharedBudget::Use&) {
      own.used.tokens = 5;
      ::raise(SIGKILL);
    });
  }));

  BOOST_TEST(pool.others(-1).tokens == 0);  // the step did not end
  pool.take_up(0, {.turns = 1, .tokens = 2});
  BOOST_TEST(pool.others(-1).tokens == 2);
}

BOOST_AUTO_TEST_CASE(what_earlier_processes_used_counts_for_all) {
  SharedBudget pool(some_time());
  pool.add_earlier({.turns = 2, .tokens = 40});
  pool.take_up(1, {.turns = 1, .tokens = 30});
  FakeClock clock;
  Budget budget({.turns = 10, .tokens = 100}, clock);
  budget.share(pool, 0);

  BOOST_TEST(!budget.before_request(15, 15));
  BOOST_TEST(budget.before_request(16, 15).has_value());
  BOOST_TEST((budget.deadline() == some_time()));
  budget.take_up({.turns = 1, .tokens = 10, .time = 5min});
  BOOST_TEST((budget.deadline() == some_time()));  // of all of them, not of this one alone
  BOOST_TEST(budget.before_request(11, 10).has_value());
  BOOST_TEST(pool.others(-1).turns == 4);
}

BOOST_AUTO_TEST_CASE(calls_at_the_same_time_are_set_aside) {
  SharedBudget pool(some_time());
  FakeClock clock;
  Budget one({.tool_calls = 5}, clock);
  Budget two({.tool_calls = 5}, clock);
  one.share(pool, 0);
  two.share(pool, 1);

  BOOST_TEST(one.allowed_calls(3) == 3);
  BOOST_TEST(two.allowed_calls(3) == 2);
  for (int i = 0; i < 3; ++i) one.count_tool_call();
  for (int i = 0; i < 2; ++i) two.count_tool_call();
  BOOST_TEST(one.before_tool_call().has_value());
  BOOST_TEST(pool.others(-1).tool_calls == 5);
}

BOOST_AUTO_TEST_SUITE_END()
