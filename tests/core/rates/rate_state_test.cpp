#include "core/rates/rate_state.h"

#include <boost/test/unit_test.hpp>
#include <deque>
#include <map>
#include <vector>

#include "core/rates/rate_state_bytes.h"

using namespace sortie;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

constexpr const char* kName = "openai";

/// Runs that wait, each of which asks again when it was told to.
struct Crowd {
  RateState state;
  RatePace pace{.requests = 60};
  nanoseconds now = 1h;

  struct Run {
    std::uint64_t number = 0;
    nanoseconds asks_at{0};
    bool alive = true;
    bool sent = false;
  };
  std::vector<Run> runs;
  std::vector<std::size_t> order;    ///< in which they were sent
  std::vector<nanoseconds> sent_at;  ///< by that order

  std::size_t add() {
    runs.push_back({.asks_at = now});
    return runs.size() - 1;
  }

  void ask(std::size_t i) {
    Run& run = runs[i];
    const RateTurn turn = state.ask(kName, pace, {.number = run.number}, now);
    run.number = turn.number;
    run.asks_at = now + turn.look_in;
    if (!turn.go) return;
    run.sent = true;
    order.push_back(i);
    sent_at.push_back(now);
  }

  /// Lets each ask in its time, until all that are alive have sent, or until a time.
  void go_on(nanoseconds until = 1000h) {
    for (;;) {
      Run* next = nullptr;
      for (Run& run : runs)
        if (run.alive && !run.sent && (next == nullptr || run.asks_at < next->asks_at)) next = &run;
      if (next == nullptr || next->asks_at > until) return;
      now = std::max(now, next->asks_at);
      ask(static_cast<std::size_t>(next - runs.data()));
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_state)

BOOST_AUTO_TEST_CASE(requests_are_sent_in_the_order_in_which_they_came) {
  Crowd crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.ask(crowd.add());
    crowd.now += 1ms;
  }
  crowd.go_on();

  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 20; ++i) expected.push_back(i);
  BOOST_TEST(crowd.order == expected);
  BOOST_TEST(crowd.state.queue(kName, crowd.now).waiting.empty());
  BOOST_TEST(crowd.state.queue(kName, crowd.now).bucket.taken == 20);
}

BOOST_AUTO_TEST_CASE(no_turn_is_left_unused_while_somebody_waits) {
  Crowd crowd;
  for (int i = 0; i < 200; ++i) crowd.add();
  crowd.go_on();

  const nanoseconds took = crowd.sent_at.back() - crowd.sent_at.front();
  BOOST_TEST(took.count() <= (199 * interval_of(crowd.pace)).count());
}

BOOST_AUTO_TEST_CASE(a_request_that_keeps_coming_does_not_overtake) {
  Crowd crowd;
  crowd.ask(crowd.add());
  crowd.ask(crowd.add());  // waits
  // Others ask each millisecond, and would catch the moment.
  for (int i = 0; i < 1500; ++i) {
    crowd.now += 1ms;
    if (crowd.runs[1].asks_at <= crowd.now && !crowd.runs[1].sent) crowd.ask(1);
    crowd.ask(crowd.add());
    if (crowd.order.size() > 1) break;
  }

  BOOST_TEST(crowd.order.at(1) == 1u);
}

BOOST_AUTO_TEST_CASE(a_run_that_was_killed_holds_up_nobody_for_long) {
  Crowd crowd;
  for (int i = 0; i < 100; ++i) crowd.ask(crowd.add());
  for (std::size_t i = 0; i < 100; ++i) crowd.runs[i].alive = i % 2 == 1;
  const nanoseconds began = crowd.now;
  crowd.go_on();

  BOOST_TEST(crowd.order.size() == 51u);  // the first one was sent at once
  // 50 turns, and the time after which the dead ones are passed over.
  BOOST_TEST((crowd.now - began).count() < (55 * interval_of(crowd.pace) + 6s).count());
  for (std::size_t i = 2; i < crowd.order.size(); ++i)
    BOOST_TEST(crowd.order[i] > crowd.order[i - 1]);
  // In the end they are forgotten.
  crowd.now += 1min;
  crowd.ask(crowd.add());
  BOOST_TEST(crowd.state.queue(kName, crowd.now).waiting.empty());
}

BOOST_AUTO_TEST_CASE(a_run_that_was_stopped_for_a_while_keeps_its_place) {
  Crowd crowd;
  for (int i = 0; i < 5; ++i) crowd.ask(crowd.add());
  crowd.runs[1].alive = false;
  crowd.go_on(crowd.now + 4s);
  BOOST_TEST(crowd.order.size() >= 4u);
  for (int i = 0; i < 5; ++i) crowd.ask(crowd.add());
  crowd.runs[1].alive = true;
  crowd.runs[1].asks_at = crowd.now + 500ms;
  const std::size_t before = crowd.order.size();
  crowd.now += 500ms;
  crowd.ask(1);
  crowd.go_on();

  const auto place = std::find(crowd.order.begin(), crowd.order.end(), 1u) - crowd.order.begin();
  BOOST_TEST(place <= static_cast<std::ptrdiff_t>(before) + 1);
}

BOOST_AUTO_TEST_CASE(a_pause_is_for_all_and_has_a_bound) {
  Crowd crowd;
  crowd.state.pause(kName, crowd.now + 20s, crowd.now);
  const RateTurn turn = crowd.state.ask(kName, crowd.pace, {}, crowd.now);

  BOOST_TEST(!turn.go);
  BOOST_TEST((turn.cause == RateCause::paused));
  BOOST_TEST((turn.pause == 20s));
  // A shorter one does not end it.
  crowd.state.pause(kName, crowd.now + 1s, crowd.now);
  BOOST_TEST((crowd.state.ask(kName, crowd.pace, {}, crowd.now).pause == 20s));
  crowd.state.pause(kName, crowd.now + 9000h, crowd.now);
  BOOST_TEST((crowd.state.ask(kName, crowd.pace, {}, crowd.now).pause == 1h));
  BOOST_TEST(crowd.state.queue(kName, crowd.now).bucket.refused == 3);
}

BOOST_AUTO_TEST_CASE(providers_do_not_hold_up_each_other) {
  Crowd crowd;
  crowd.state.pause("anthropic", crowd.now + 20s, crowd.now);

  BOOST_TEST(crowd.state.ask(kName, crowd.pace, {}, crowd.now).go);
}

BOOST_AUTO_TEST_CASE(a_request_that_leaves_makes_room) {
  Crowd crowd;
  for (int i = 0; i < 3; ++i) crowd.ask(crowd.add());
  crowd.state.leave(kName, crowd.runs[1].number, crowd.now);

  const RateTurn turn =
      crowd.state.ask(kName, crowd.pace, {.number = crowd.runs[2].number}, crowd.now);
  BOOST_TEST(turn.ahead == 0u);
}

BOOST_AUTO_TEST_CASE(the_state_is_bounded_and_more_requests_wait_behind_all) {
  Crowd crowd;
  for (std::size_t i = 0; i < RateState::kMostWaiting + 10; ++i) crowd.ask(crowd.add());
  for (int i = 0; i < 100; ++i)
    crowd.state.queue("https://" + std::string(180, 'h') + std::to_string(i), crowd.now);

  BOOST_TEST(crowd.state.queues.size() == RateState::kMostQueues);
  // One that somebody waits in stays.
  BOOST_TEST(crowd.state.queue(kName, crowd.now).waiting.size() == RateState::kMostWaiting);
  RateState largest;
  for (std::size_t i = 0; i < RateState::kMostQueues; ++i)
    largest.queue(std::string(RateState::kMostNameBytes - 2, 'n') + std::to_string(i), 1h)
        .bucket.window.tokens.fill(INT64_MAX / 100);
  for (std::size_t i = 0; i < RateState::kMostWaiting; ++i)
    largest.queues.front().waiting.push_back({i, 1, 1h});
  BOOST_TEST(state_bytes({.boot = std::string(64, 'b'), .state = largest}).size() <=
             kMostStateBytes);
}

BOOST_AUTO_TEST_CASE(a_written_state_is_read_as_it_was) {
  Crowd crowd;
  crowd.pace.tokens = 100'000;
  for (int i = 0; i < 7; ++i) crowd.ask(crowd.add());
  crowd.state.pause("http://127.0.0.1:8080", crowd.now + 3s, crowd.now);
  const StoredState stored{
      .sequence = 7, .written_at = crowd.now, .boot = "id", .state = crowd.state};

  const std::string bytes = state_bytes(stored);
  const auto read = read_state_bytes(bytes);

  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->sequence == 7u);
  BOOST_TEST((read->written_at == crowd.now));
  BOOST_TEST(read->boot == "id");
  BOOST_TEST((read->state == crowd.state));
  BOOST_TEST(state_length(bytes) == bytes.size());
  BOOST_TEST(state_sequence(bytes) == 7u);
}

BOOST_AUTO_TEST_CASE(a_state_that_is_not_whole_is_not_read) {
  Crowd crowd;
  for (int i = 0; i < 7; ++i) crowd.ask(crowd.add());
  const std::string bytes = state_bytes({.sequence = 1, .boot = "id", .state = crowd.state});

  for (std::size_t length = 0; length < bytes.size(); ++length)
    BOOST_TEST(!read_state_bytes(bytes.substr(0, length)));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    if (at == kRateStateMagic.size()) continue;  // the NUL behind it says nothing
    BOOST_TEST(!read_state_bytes(changed), "byte " << at);
  }
  BOOST_TEST(!read_state_bytes(bytes + "x"));
}

BOOST_AUTO_TEST_SUITE_END()
