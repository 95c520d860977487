#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rates/rate_bucket.h"

namespace sortie {

/// A request that waits. Its process says when it will look again: one that does not is passed over,
/// and forgotten in the end, so that a process that was killed holds up nobody.
struct RateTicket {
  std::uint64_t number = 0;  ///< the lowest is the next one's turn
  std::int64_t tokens = 0;
  std::chrono::nanoseconds awake_at{0};  ///< when it looks again, at the latest
  bool operator==(const RateTicket&) const = default;
};

/// A provider's limits with what has been taken of them, and the requests that wait.
struct RateQueue {
  std::string name;
  RateBucket bucket{};
  std::vector<RateTicket> waiting{};    ///< by number
  std::chrono::nanoseconds used_at{0};  ///< when it was looked at last
  bool operator==(const RateQueue&) const = default;
};

/// A request that asks for its turn.
struct RateRequest {
  std::uint64_t number = 0;  ///< of its ticket; 0: none yet
  std::int64_t tokens = 0;   ///< that it may take, by estimate
  /// The longest time until it looks again, whatever it is told.
  std::chrono::nanoseconds patience = std::chrono::hours(1);
};

/// What it is told.
struct RateTurn {
  bool go = false;           ///< it was taken: send it now
  std::uint64_t number = 0;  ///< of its ticket
  RateCause cause = RateCause::none;
  std::size_t ahead = 0;                 ///< requests whose turn is before
  std::chrono::nanoseconds expected{0};  ///< how long it will wait, by estimate
  std::chrono::nanoseconds pause{0};     ///< of it, what the provider asked for: no less
  std::chrono::nanoseconds look_in{0};   ///< when to ask again
};

/// What all runs of a machine know of the limits that they share: plain values, which a RateStore keeps.
///
/// Bounded: of more providers the one unused for longest goes, and of more waiting requests the later
/// ones wait without a ticket, behind all that have one.
class RateState {
 public:
  static constexpr std::size_t kMostQueues = 32;
  static constexpr std::size_t kMostWaiting = 4000;  ///< of all queues
  static constexpr std::size_t kMostNameBytes = 200;

  std::uint64_t last_number = 0;  ///< of a ticket
  std::vector<RateQueue> queues{};
  bool operator==(const RateState&) const = default;

  /// The queue of that name, an empty one if there was none. Valid until the next call.
  RateQueue& queue(std::string_view name, std::chrono::nanoseconds now);
  /// Gives the request its turn, or a ticket and the time at which to ask again. In the order of the
  /// tickets, but for those whose process is late.
  RateTurn ask(std::string_view name, const RatePace& pace, const RateRequest& request,
               std::chrono::nanoseconds now);
  /// The request does not wait any more.
  void leave(std::string_view name, std::uint64_t number, std::chrono::nanoseconds now);
  /// Nobody sends before: the provider has refused a request for its limits.
  void pause(std::string_view name, std::chrono::nanoseconds until, std::chrono::nanoseconds now);

 private:
  std::size_t waiting() const;
};

/// Where the state is kept.
class RateStore {
 public:
  virtual ~RateStore() = default;
  using Step = std::function<void(RateState& state, std::chrono::nanoseconds now)>;
  /// Changes the state; nobody else does so meanwhile. The step gets the time at which its turn came.
  /// @throws Error  it can't be had: environment; busy, if another process keeps it for too long
  virtual void change(const Step& step) = 0;
};

}  // namespace sortie
