#include "policies/egress/gate/connect_answer.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <optional>

#include "core/base/error.h"
#include "policies/egress/gate/connect_request.h"

namespace sortie {
namespace {

/// Two ends of one TCP connection over the machine's loopback, close-on-exec and blocking.
struct TcpPair {
  Fd inner;  ///< of the family asked for
  Fd outer;
};

/// Connects to a temporary listener of its own, which accepts only that connection, recognised by
/// its port. A socketpair(2) would do for the bytes, but programs query a TCP socket's addresses
/// and set TCP options.
/// @param family  AF_INET or AF_INET6 (then over ::ffff:127.0.0.1)
/// @return nothing, with errno set, if the system provides none within two seconds
std::optional<TcpPair> connected_tcp_pair(int family);

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

/// The port in network order; 0 with errno set if there is none.
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

/// The connection from `port`; connections from others are closed.
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
  // Nagle's algorithm would only delay bytes on the loopback.
  const int on = 1;
  for (const Fd* end : {&pair.inner, &pair.outer})
    ::setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::fcntl(pair.inner.get(), F_SETFL, 0) != 0) return std::nullopt;
  return pair;
}

/// A copy of a call's arguments.
struct Copied {
  SeenDescriptor descriptor;
  std::string address;
  int error = 0;
};

Copied copy_arguments_as_now(const NotifiedCall& call) {
  const ThreadReader reader(call.thread);
  Copied copied;
  if (!reader.may_look()) {
    copied.error = EPERM;
    return copied;
  }
  copied.descriptor = reader.descriptor(static_cast<int>(call.arguments[0]));
  const auto length = static_cast<int>(call.arguments[2]);
  if (copied.descriptor.kind == SocketKind::no_descriptor) {
    copied.error = EBADF;
  } else if (length < 0 || length > static_cast<int>(sizeof(sockaddr_storage))) {
    copied.error = EINVAL;
  } else {
    copied.error =
        reader.read_memory(call.arguments[1], static_cast<std::size_t>(length), copied.address);
  }
  return copied;
}

Copied copy_arguments(const NotifiedCall& call, const GatedCommands& commands) {
  Copied copied = copy_arguments_as_now(call);
  if (copied.error != EPERM) return copied;
  const FileAccessAs as(commands.uid, commands.gid);
  return copy_arguments_as_now(call);
}

AnsweredConnect refuse(const SeccompListener& listener, const NotifiedCall& call, int error) {
  listener.answer(call, error);
  return {};
}

AnsweredConnect deny(const SeccompListener& listener, const NotifiedCall& call, int error,
                     std::string reason, const ConnectVerdict& verdict = {}) {
  listener.answer(call, error);
  return {.connection = {},
          .denied = true,
          .host = verdict.host,
          .port = verdict.port,
          .reason = std::move(reason)};
}

std::string what_leads_out(std::uint16_t port) {
  return "only the proxy at http://127.0.0.1:" + std::to_string(port) +
         " leads out: the program has to use HTTPS_PROXY or HTTP_PROXY";
}

AnsweredConnect connect_to_proxy(const SeccompListener& listener, const NotifiedCall& call,
                                 const SeenDescriptor& descriptor) {
  auto pair = connected_tcp_pair(descriptor.kind == SocketKind::tcp4 ? AF_INET : AF_INET6);
  const bool made =
      pair && (!descriptor.non_blocking || ::fcntl(pair->inner.get(), F_SETFL, O_NONBLOCK) == 0);
  if (!made)
    return deny(listener, call, ECONNREFUSED,
                "no connection could be made on the loopback: " + errno_text(errno));
  const int error = listener.replace_descriptor(
      call, pair->inner.get(), static_cast<int>(call.arguments[0]), descriptor.close_on_exec);
  if (error != 0) return refuse(listener, call, error);
  listener.answer(call, 0);
  AnsweredConnect answered;
  answered.connection = std::move(pair->outer);
  return answered;
}

}  // namespace

std::optional<NotifiedCall> SeccompListener::receive() const {
  // Zeroed, with spare room: a later kernel may have a longer structure.
  union {
    seccomp_notif call;
    unsigned char room[1024];
  } buffer{.room = {}};
  while (::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_RECV, &buffer) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  NotifiedCall call{.id = buffer.call.id, .thread = static_cast<pid_t>(buffer.call.pid)};
  std::copy(std::begin(buffer.call.data.args), std::end(buffer.call.data.args), call.arguments);
  return call;
}

bool SeccompListener::is_waiting(const NotifiedCall& call) const {
  return ::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

int SeccompListener::replace_descriptor(const NotifiedCall& call, int source, int number,
                                        bool close_on_exec) const {
  seccomp_notif_addfd add{};
  add.id = call.id;
  add.flags = SECCOMP_ADDFD_FLAG_SETFD;
  add.srcfd = static_cast<std::uint32_t>(source);
  add.newfd = static_cast<std::uint32_t>(number);
  add.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  return ::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0 ? 0 : errno;
}

void SeccompListener::answer(const NotifiedCall& call, int error) const {
  union {
    seccomp_notif_resp answer;
    unsigned char room[1024];
  } buffer{.room = {}};
  buffer.answer.id = call.id;
  buffer.answer.error = -error;
  // Fails if the process has died: then nobody waits.
  static_cast<void>(::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_SEND, &buffer));
}

AnsweredConnect answer_connect(const SeccompListener& listener, const NotifiedCall& call,
                               const GatedCommands& commands) {
  const Copied copied = copy_arguments(call, commands);
  if (!listener.is_waiting(call)) return {};  // it may have been another process that was read
  if (copied.error == EPERM)
    return deny(listener, call, EPERM,
                "the program does not let its memory be read (PR_SET_DUMPABLE), so that its "
                "connections can't be decided");
  if (copied.error != 0) return refuse(listener, call, copied.error);
  const ConnectVerdict verdict =
      judge_connect(copied.descriptor.kind, copied.address, commands.proxy_port);
  if (verdict.to_proxy) return connect_to_proxy(listener, call, copied.descriptor);
  if (!verdict.leaves) return refuse(listener, call, verdict.error);
  return deny(listener, call, verdict.error, what_leads_out(commands.proxy_port), verdict);
}

}  // namespace sortie
