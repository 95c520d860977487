#include "policies/egress/gate/tcp_pair.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace sortie {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLongest{2000};

sockaddr* raw(sockaddr_storage& address) { return reinterpret_cast<sockaddr*>(&address); }

socklen_t loopback(int family, in_port_t port, sockaddr_storage& out) {
  out = {};
  out.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    auto& address = reinterpret_cast<sockaddr_in&>(out);
    address.sin_port = port;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof address;
  }
  auto& address = reinterpret_cast<sockaddr_in6&>(out);
  address.sin6_port = port;
  address.sin6_addr.s6_addr[10] = address.sin6_addr.s6_addr[11] = 0xff;
  address.sin6_addr.s6_addr[12] = 127;
  address.sin6_addr.s6_addr[15] = 1;
  return sizeof address;
}

in_port_t port_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                                      : reinterpret_cast<const sockaddr_in6&>(address).sin6_port;
}

/// The port in network order; 0 with errno set where there is none.
in_port_t own_port(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  return ::getsockname(socket.get(), raw(address), &length) == 0 ? port_of(address) : 0;
}

bool wait_for(const Fd& socket, short events, steady_clock::time_point deadline) {
  pollfd poll{socket.get(), events, 0};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    const int ready = left.count() <= 0 ? 0 : ::poll(&poll, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready == 0) errno = ETIMEDOUT;
    if (ready == 0 || errno != EINTR) return false;
  }
}

/// The connection that comes from `port`; what anybody else made meanwhile is closed.
Fd accept_from(const Fd& listener, in_port_t port, steady_clock::time_point deadline) {
  while (wait_for(listener, POLLIN, deadline)) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    Fd taken(::accept4(listener.get(), raw(peer), &length, SOCK_CLOEXEC));
    if (taken && port_of(peer) == port) return taken;
    if (!taken && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) break;
  }
  return {};
}

bool finished_connecting(const Fd& socket, steady_clock::time_point deadline) {
  if (!wait_for(socket, POLLOUT, deadline)) return false;
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return false;
  errno = error;
  return error == 0;
}

}  // namespace

std::optional<TcpPair> connected_tcp_pair(int family) {
  const auto deadline = steady_clock::now() + kLongest;
  const int flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const Fd listener(::socket(AF_INET, flags, 0));
  TcpPair pair{Fd(::socket(family, flags, 0)), {}};
  sockaddr_storage address{};
  socklen_t length = loopback(AF_INET, 0, address);
  if (!listener || !pair.inner || ::bind(listener.get(), raw(address), length) != 0 ||
      ::listen(listener.get(), 8) != 0)
    return std::nullopt;
  const in_port_t port = own_port(listener);
  if (port == 0) return std::nullopt;
  length = loopback(family, port, address);
  if (::connect(pair.inner.get(), raw(address), length) != 0 && errno != EINPROGRESS)
    return std::nullopt;
  const in_port_t from = own_port(pair.inner);
  if (from == 0) return std::nullopt;
  pair.outer = accept_from(listener, from, deadline);
  if (!pair.outer || !finished_connecting(pair.inner, deadline)) return std::nullopt;
  // What waits for more to send would wait on a network that is not there.
  const int on = 1;
  for (const Fd* end : {&pair.inner, &pair.outer})
    ::setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::fcntl(pair.inner.get(), F_SETFL, 0) != 0) return std::nullopt;
  return pair;
}

}  // namespace sortie
