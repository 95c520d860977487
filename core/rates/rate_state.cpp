#include "core/rates/rate_state.h"

#include <algorithm>
#include <utility>

namespace sortie {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// A process that has not looked again by then is passed over: it may be slow.
constexpr nanoseconds kLate = 500ms;
/// Its ticket is forgotten: it may be dead. If it is not, it comes again with the same number.
constexpr nanoseconds kGone = 30s;
/// How often the first one looks again, whatever it was told: others may give back what they took.
/// Those behind it look less often, each by its place.
constexpr nanoseconds kLook = 250ms;
constexpr nanoseconds kSeldomLook = 5s;
/// The provider can name a longer time, but it is asked again then.
constexpr nanoseconds kLongestPause = 1h;

bool is_before(const RateTicket& ticket, std::uint64_t number) { return ticket.number < number; }

auto place_in(std::vector<RateTicket>& waiting, std::uint64_t number) {
  return std::lower_bound(waiting.begin(), waiting.end(), number, is_before);
}

void drop(std::vector<RateTicket>& waiting, std::uint64_t number) {
  const auto at = place_in(waiting, number);
  if (at != waiting.end() && at->number == number) waiting.erase(at);
}

/// What stands before a request in its queue.
struct Ahead {
  std::size_t count = 0;
  std::int64_t tokens = 0;
};

Ahead ahead_of(const std::vector<RateTicket>& waiting, std::uint64_t number, nanoseconds now) {
  Ahead ahead;
  for (const RateTicket& ticket : waiting) {
    if (ticket.number >= number) break;
    if (ticket.awake_at + kLate < now) continue;
    ++ahead.count;
    ahead.tokens += ticket.tokens;
  }
  return ahead;
}

/// The time that those before it take.
nanoseconds time_of(const Ahead& ahead, const RatePace& pace) {
  const nanoseconds by_requests = interval_of(pace) * static_cast<std::int64_t>(ahead.count);
  return std::max(by_requests, time_of(ahead.tokens, pace));
}

/// Nobody waits in it, or it was not used for longer.
bool is_less_needed(const RateQueue& a, const RateQueue& b) {
  return std::pair(!a.waiting.empty(), a.used_at) < std::pair(!b.waiting.empty(), b.used_at);
}

}  // namespace

std::size_t RateState::waiting() const {
  std::size_t sum = 0;
  for (const RateQueue& queue : queues) sum += queue.waiting.size();
  return sum;
}

RateQueue& RateState::queue(std::string_view name, nanoseconds now) {
  auto found = std::find_if(queues.begin(), queues.end(),
                            [name](const RateQueue& each) { return each.name == name; });
  if (found == queues.end()) {
    if (queues.size() == kMostQueues)
      queues.erase(std::min_element(queues.begin(), queues.end(), is_less_needed));
    queues.push_back({.name = std::string(name)});
    found = std::prev(queues.end());
  }
  found->used_at = now;
  return *found;
}

RateTurn RateState::ask(std::string_view name, const RatePace& pace, const RateRequest& request,
                        nanoseconds now) {
  RateQueue& queue = this->queue(name, now);
  std::erase_if(queue.waiting,
                [now](const RateTicket& ticket) { return ticket.awake_at + kGone < now; });
  RateTurn turn{.number = request.number};
  if (turn.number == 0)  // by the time, so that they are in order even if the state was lost
    turn.number = last_number =
        std::max<std::uint64_t>(last_number + 1, static_cast<std::uint64_t>(now.count()));
  const Ahead ahead = ahead_of(queue.waiting, turn.number, now);
  const FreeTime free = free_at(queue.bucket, pace, request.tokens, now);
  if (ahead.count == 0 && free.at <= now) {
    drop(queue.waiting, turn.number);
    take(queue.bucket, pace, request.tokens, now);
    turn.go = true;
    return turn;
  }
  turn.cause = free.cause;
  turn.ahead = ahead.count;
  turn.expected = free.at - now + time_of(ahead, pace);
  turn.pause = std::max(nanoseconds(0), queue.bucket.paused_until - now);
  const auto place = static_cast<std::int64_t>(std::min<std::size_t>(ahead.count, 1000));
  const nanoseconds longest = std::min({kLook * (place + 1), kSeldomLook, request.patience});
  turn.look_in = std::max<nanoseconds>(std::min(turn.expected, longest), 1ms);
  const RateTicket ticket{turn.number, request.tokens, now + turn.look_in};
  const auto at = place_in(queue.waiting, turn.number);
  if (at != queue.waiting.end() && at->number == turn.number)
    *at = ticket;
  else if (waiting() < kMostWaiting)
    queue.waiting.insert(at, ticket);
  return turn;
}

void RateState::leave(std::string_view name, std::uint64_t number, nanoseconds now) {
  drop(queue(name, now).waiting, number);
}

void RateState::pause(std::string_view name, nanoseconds until, nanoseconds now) {
  RateBucket& bucket = queue(name, now).bucket;
  ++bucket.refused;
  bucket.paused_until = std::max(bucket.paused_until, std::min(until, now + kLongestPause));
}

}  // namespace sortie
