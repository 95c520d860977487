#include "core/rates/rate_bucket.h"

#include <algorithm>

namespace sortie {
namespace {

using std::chrono::nanoseconds;

constexpr int kSlackPercent = 3;
/// A request that takes many windows' tokens holds up the others no longer than this.
constexpr nanoseconds kLongest = std::chrono::hours(24);

__extension__ typedef __int128 Wide;  // a window's nanoseconds times tokens

/// A window's length with the slack, times a share of it.
nanoseconds share_of_window(std::int64_t count, std::int64_t limit, const RatePace& pace) {
  const Wide length = (pace.window + slack_of(pace)).count();
  const Wide time = (length * count + limit - 1) / limit;
  return time > kLongest.count() ? kLongest : nanoseconds(static_cast<std::int64_t>(time));
}

nanoseconds tolerance_of(const RatePace& pace) { return slack_of(pace) / 2; }

}  // namespace

nanoseconds slack_of(const RatePace& pace) { return pace.window * kSlackPercent / 100; }

nanoseconds interval_of(const RatePace& pace) {
  return pace.requests == 0 ? nanoseconds(0) : share_of_window(1, pace.requests, pace);
}

nanoseconds time_of(std::int64_t tokens, const RatePace& pace) {
  return pace.tokens == 0 ? nanoseconds(0) : share_of_window(tokens, pace.tokens, pace);
}

FreeTime free_at(RateBucket& bucket, const RatePace& pace, std::int64_t tokens, nanoseconds now) {
  FreeTime free{.at = now};
  const auto later = [&free](nanoseconds time, RateCause cause) {
    if (time > free.at) free = {time, cause};
  };
  if (pace.requests > 0) later(bucket.next_request - tolerance_of(pace), RateCause::requests);
  if (pace.tokens > 0) {
    later(bucket.next_tokens - tolerance_of(pace), RateCause::tokens);
    bucket.window.set_length(pace.window + slack_of(pace));
    bucket.window.advance(now);
    later(bucket.window.fits_at(tokens, pace.tokens, now), RateCause::tokens);
  }
  later(bucket.paused_until, RateCause::paused);
  return free;
}

void take(RateBucket& bucket, const RatePace& pace, std::int64_t tokens, nanoseconds now) {
  ++bucket.taken;
  bucket.next_request = std::max(bucket.next_request, now) + interval_of(pace);
  if (pace.tokens == 0) return;
  bucket.next_tokens = std::max(bucket.next_tokens, now) + time_of(tokens, pace);
  bucket.window.set_length(pace.window + slack_of(pace));
  bucket.window.advance(now);
  bucket.window.add(tokens, now);
}

void correct(RateBucket& bucket, const RatePace& pace, std::int64_t more, nanoseconds when,
             nanoseconds now) {
  if (pace.tokens == 0) return;
  const nanoseconds time = time_of(more < 0 ? -more : more, pace);
  bucket.next_tokens =
      more < 0 ? bucket.next_tokens - time : std::max(bucket.next_tokens, now) + time;
  bucket.window.set_length(pace.window + slack_of(pace));
  bucket.window.advance(now);
  bucket.window.add(more, when);
}

}  // namespace sortie
