#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/fd.h"
#include "tests/policies/egress/gate/attempts.h"

namespace sortie::gated {
namespace {

constexpr int kMptcp = 262;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string make(long family, long type, long protocol) {
  const Fd socket(static_cast<int>(::syscall(SYS_socket, family, type, protocol)));
  return outcome(socket.get());
}

std::string make_pair(int type) {
  int ends[2] = {-1, -1};
  const int result = ::socketpair(AF_UNIX, type, 0, ends);
  const Fd one(ends[0]);
  const Fd other(ends[1]);
  return outcome(result);
}

Fd tcp() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

/// Sends with the address in the same call: no connect(2) is seen.
std::string send_to(const Outside& outside, int flags) {
  const Fd socket = tcp();
  const sockaddr_in address = loopback(outside.tcp_port);
  return outcome(::sendto(socket.get(), "x", 1, flags | MSG_NOSIGNAL,
                          reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

std::string send_message_to(const Outside& outside, int flags, bool many) {
  const Fd socket = tcp();
  sockaddr_in address = loopback(outside.tcp_port);
  char byte = 'x';
  iovec part{&byte, 1};
  mmsghdr message{};
  message.msg_hdr.msg_name = &address;
  message.msg_hdr.msg_namelen = sizeof address;
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  flags |= MSG_NOSIGNAL;
  return outcome(many ? ::sendmmsg(socket.get(), &message, 1, flags)
                      : ::sendmsg(socket.get(), &message.msg_hdr, flags));
}

/// The kernel would put off the connection until the first write.
std::string fast_open_connect(const Outside& outside) {
  const Fd socket = tcp();
  const int on = 1;
  if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on) != 0)
    return outcome(-1);
  const sockaddr_in address = loopback(outside.tcp_port);
  const int result =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const std::string connected = outcome(result);
  if (::send(socket.get(), "x", 1, MSG_NOSIGNAL) >= 0) return "sent";
  return connected;
}

std::string bind_port() {
  const Fd socket = tcp();
  const sockaddr_in address = loopback(0);
  return outcome(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

}  // namespace

std::vector<Attempt> socket_attempts() {
  const long high = 1L << 32;
  return {
      {"tcp", [](auto&) { return make(AF_INET, SOCK_STREAM, 0); }},
      {"tcp_by_number", [](auto&) { return make(AF_INET6, SOCK_STREAM, IPPROTO_TCP); }},
      {"udp", [](auto&) { return make(AF_INET, SOCK_DGRAM, 0); }},
      {"udp_ipv6", [](auto&) { return make(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0); }},
      {"raw", [](auto&) { return make(AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
      {"ping", [](auto&) { return make(AF_INET, SOCK_DGRAM, IPPROTO_ICMP); }},
      {"sequenced", [](auto&) { return make(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP); }},
      {"sctp", [](auto&) { return make(AF_INET, SOCK_STREAM, IPPROTO_SCTP); }},
      {"mptcp", [](auto&) { return make(AF_INET, SOCK_STREAM, kMptcp); }},
      {"low_protocol", [](auto&) { return make(AF_INET, SOCK_STREAM, IPPROTO_ICMP); }},
      {"type_high_bits", [=](auto&) { return make(AF_INET, high | SOCK_DGRAM, 0); }},
      {"family_high_bits", [=](auto&) { return make(high | AF_INET, SOCK_DGRAM, 0); }},
      {"protocol_high_bits", [=](auto&) { return make(AF_INET, SOCK_STREAM, high | kMptcp); }},
      {"unix", [](auto&) { return make(AF_UNIX, SOCK_STREAM, 0); }},
      {"netlink", [](auto&) { return make(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
      {"vsock", [](auto&) { return make(AF_VSOCK, SOCK_STREAM, 0); }},
      {"stream_pair", [](auto&) { return make_pair(SOCK_STREAM); }},
      {"packet_pair", [](auto&) { return make_pair(SOCK_SEQPACKET); }},
      {"datagram_pair", [](auto&) { return make_pair(SOCK_DGRAM | SOCK_CLOEXEC); }},
      {"raw_pair", [](auto&) { return make_pair(SOCK_RAW); }},
      {"send_to", [](auto& o) { return send_to(o, 0); }},
      {"fast_open_send_to", [](auto& o) { return send_to(o, MSG_FASTOPEN); }},
      {"fast_open_message", [](auto& o) { return send_message_to(o, MSG_FASTOPEN, false); }},
      {"fast_open_messages", [](auto& o) { return send_message_to(o, MSG_FASTOPEN, true); }},
      {"message_to", [](auto& o) { return send_message_to(o, 0, false); }},
      {"fast_open_connect", fast_open_connect},
      {"bind", [](auto&) { return bind_port(); }},
      {"listen", [](auto&) { return outcome(::listen(tcp().get(), 1)); }},
      {"accept", [](auto&) { return outcome(::accept(tcp().get(), nullptr, nullptr)); }},
  };
}

}  // namespace sortie::gated
