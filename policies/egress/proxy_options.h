#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace sortie {

/// One attempt of a command to reach a host: a tunnel, or one plain request.
struct EgressConnection {
  enum class State {
    denied,  ///< by the rules, or because it was invalid; nothing follows
    opened,  ///< allowed, before connecting; `closed` follows
    closed,  ///< over, or failed
  };
  State state = State::denied;
  std::uint64_t id = 0;          ///< counted from 1; an opened and a closed one have the same
  std::string host;              ///< as asked for, lower-cased; printable
  int port = 0;                  ///< 0 if it was invalid
  std::string method;            ///< "CONNECT", "GET", …; "connect" without the proxy protocol
  std::string rule;              ///< the entry of `network.allow` that allowed it, or ""
  std::string reason;            ///< why it was denied or failed; or ""
  std::string would_allow;       ///< the entry that would allow a denied one, or ""
  std::string address;           ///< the address that was connected to, or ""
  std::uint64_t sent_bytes = 0;  ///< by the command
  std::uint64_t received_bytes = 0;  ///< by the command
  std::chrono::milliseconds duration{0};
};

/// Limits of the proxy.
struct EgressLimits {
  std::size_t connections = 256;              ///< of clients at once; more wait to be accepted
  std::uint64_t requests = 100'000;           ///< in all; then no more are served
  std::chrono::milliseconds head{10'000};     ///< for a request's head to arrive
  std::chrono::milliseconds connect{10'000};  ///< for looking a host up and connecting to it
  std::chrono::milliseconds idle{300'000};    ///< without a byte in either direction
};

/// Called for a connection when it is denied, when it is allowed (before connecting), and when it
/// is closed: from the proxy's own thread, one at a time. If it throws for an allowed connection,
/// that one is not made.
using EgressReport = std::function<void(const EgressConnection&)>;

}  // namespace sortie
