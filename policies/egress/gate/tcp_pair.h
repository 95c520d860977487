#pragma once

#include <optional>

#include "core/base/fd.h"

namespace sortie {

/// Two ends of one TCP connection over the machine's loopback, close-on-exec and blocking.
struct TcpPair {
  Fd inner;  ///< of the family asked for
  Fd outer;
};

/// Makes a connection with itself: a listener that takes its own connection alone, told by its
/// port, and is closed at once. A socketpair(2) would do for bytes, but programs ask a TCP socket
/// for its addresses and set TCP's options on it.
/// @param family  AF_INET or AF_INET6 (then over ::ffff:127.0.0.1)
/// @return nothing, with errno set, where the system gives none within two seconds
std::optional<TcpPair> connected_tcp_pair(int family);

}  // namespace sortie
