#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// What a command's descriptor number stands for.
enum class SocketKind { no_descriptor, no_socket, tcp4, tcp6, other };

/// What a connect(2) of a command comes to. Nothing is ever left to the kernel.
struct ConnectVerdict {
  bool to_proxy = false;
  int error = 0;        ///< what the call answers where it does not lead to the proxy
  bool leaves = false;  ///< it was an attempt to reach an address: for the record
  std::string host;     ///< of such an attempt: the address in numbers
  int port = 0;
};

/// Judges a call by the one copy of its arguments that was made, as the kernel would judge a wrong
/// one. The proxy stands at 127.0.0.1 (also as ::1 or ::ffff:127.0.0.1 of an IPv6 socket) at
/// `proxy_port`; nothing else is reachable: ECONNREFUSED on the machine itself, else ENETUNREACH,
/// which is what a network namespace with a proxy and nothing else answers.
///
/// @param address  the bytes of the socket address, as many as the call said
ConnectVerdict judge_connect(SocketKind socket, std::string_view address, std::uint16_t proxy_port);

}  // namespace sortie
