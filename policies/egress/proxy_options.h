#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "policies/egress/connection.h"

namespace sortie {

/// How much the proxy puts up with.
struct EgressLimits {
  std::size_t connections = 256;              ///< of clients at once; more wait to be accepted
  std::uint64_t requests = 100'000;           ///< in all; then nothing more is served
  std::chrono::milliseconds head{10'000};     ///< for a request's head to arrive
  std::chrono::milliseconds connect{10'000};  ///< for looking a host up and connecting to it
  std::chrono::milliseconds idle{300'000};    ///< without a byte in either direction
};

/// Told of a connection when it is denied, when it is allowed (before anything is connected to),
/// and when it is over: from the proxy's own thread, one at a time. Where it throws on one that
/// is allowed, that one is not made.
using EgressReport = std::function<void(const EgressConnection&)>;

}  // namespace sortie
