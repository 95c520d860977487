#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/host/ip_address.h"

namespace sortie {

/// Connects to the first of some addresses that answers, without blocking.
class Connector {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Outcome { pending, connected, failed };

  /// @param deadline  for all of them; each gets its share of the remaining time
  Connector(std::vector<IpAddress> addresses, std::uint16_t port, Time deadline);

  /// Call it first, when the descriptor is writable, and at next_time().
  Outcome advance(Time now);
  /// The connecting socket; -1: none.
  int descriptor() const noexcept { return socket_.get(); }
  Time next_time() const noexcept { return next_time_; }

  /// The connected socket, and its address.
  Fd take_socket() { return std::move(socket_); }
  const IpAddress& address() const { return addresses_[place_]; }
  /// Why the last address failed.
  const std::string& problem() const noexcept { return problem_; }
  bool timed_out() const noexcept { return timed_out_; }

 private:
  bool start(Time now);

  std::vector<IpAddress> addresses_;
  std::uint16_t port_;
  Time deadline_;
  Time next_time_;
  std::size_t place_ = 0;  ///< index of the current address
  Fd socket_;
  std::string problem_;
  bool timed_out_ = false;
};

}  // namespace sortie
