// Further ways to the machine's network and to its services.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

namespace sortie::escape {
namespace {

sockaddr_in address_of(const char* host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

sockaddr_in6 address_6_of(const char* host, int port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET6, host, &address.sin6_addr);
  return address;
}

template <typename Address>
const sockaddr* raw(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

template <typename Address>
int connects(const Address& address, int type, int protocol) {
  const Fd socket(::socket(raw(address)->sa_family, type | SOCK_CLOEXEC, protocol));
  if (!socket) return errno;
  return outcome(::connect(socket.get(), raw(address), sizeof address));
}

int connect_tcp_6(const Ground& ground) {
  return connects(address_6_of("::1", ground.tcp6_port), SOCK_STREAM, 0);
}

int connect_mapped(const Ground& ground) {
  return connects(address_6_of("::ffff:127.0.0.1", ground.tcp_port), SOCK_STREAM, 0);
}

int connect_any_address(const Ground& ground) {
  return connects(address_of("0.0.0.0", ground.tcp_port), SOCK_STREAM, 0);
}

int connect_mptcp(const Ground& ground) {
  return connects(address_of("127.0.0.1", ground.tcp_port), SOCK_STREAM, IPPROTO_MPTCP);
}

int fast_open(const Ground& ground) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const sockaddr_in address = address_of("127.0.0.1", ground.tcp_port);
  return outcome(
      ::sendto(socket.get(), "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, raw(address), sizeof address));
}

int connect_late(const Ground& ground) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on) != 0)
    return errno;
  const sockaddr_in address = address_of("127.0.0.1", ground.tcp_port);
  if (::connect(socket.get(), raw(address), sizeof address) != 0) return errno;
  return outcome(::send(socket.get(), "x", 1, MSG_NOSIGNAL));
}

int connect_in_the_background(const Ground& ground) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  const sockaddr_in address = address_of("127.0.0.1", ground.tcp_port);
  if (::connect(socket.get(), raw(address), sizeof address) != 0 && errno != EINPROGRESS)
    return errno;
  sockaddr_in peer{};
  socklen_t length = sizeof peer;
  return outcome(::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&peer), &length));
}

int datagrams(const Ground& ground, bool by_message) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  sockaddr_in address = address_of("127.0.0.1", ground.udp_port);
  char byte = 'x';
  iovec part{&byte, 1};
  mmsghdr many{};
  many.msg_hdr.msg_name = &address;
  many.msg_hdr.msg_namelen = sizeof address;
  many.msg_hdr.msg_iov = &part;
  many.msg_hdr.msg_iovlen = 1;
  if (by_message ? ::sendmsg(socket.get(), &many.msg_hdr, 0) != 1
                 : ::sendmmsg(socket.get(), &many, 1, 0) != 1)
    return errno;
  // An error that the loopback answers with shows that nobody is there: another network's.
  int error = 0;
  if (::connect(socket.get(), raw(address), sizeof address) != 0) return errno;
  if (::send(socket.get(), "x", 1, 0) != 1) return errno;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

int datagram_by_sendmsg(const Ground& ground) { return datagrams(ground, true); }
int datagrams_by_sendmmsg(const Ground& ground) { return datagrams(ground, false); }

sockaddr_un letterbox(const Ground& ground) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = ground.outside + "/letterbox";
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int post_letter(const Ground& ground) {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const sockaddr_un address = letterbox(ground);
  return outcome(::sendto(socket.get(), "x", 1, MSG_DONTWAIT, raw(address), sizeof address));
}

int post_letter_from_a_pair(const Ground& ground) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  const Fd one(pair[0]);
  const Fd other(pair[1]);
  const sockaddr_un address = letterbox(ground);
  if (::connect(one.get(), raw(address), sizeof address) != 0) return errno;
  return outcome(::send(one.get(), "x", 1, MSG_DONTWAIT));
}

int makes(int family, int type, int protocol) {
  const Fd socket(::socket(family, type | SOCK_CLOEXEC, protocol));
  return outcome(socket.get());
}

int every_packet(const Ground&) { return makes(AF_PACKET, SOCK_DGRAM, htons(3 /* ETH_P_ALL */)); }
int raw_ip(const Ground&) { return makes(AF_INET, SOCK_RAW, IPPROTO_RAW); }
int raw_tcp(const Ground&) { return makes(AF_INET, SOCK_RAW, IPPROTO_TCP); }
int socket_list(const Ground&) { return makes(AF_NETLINK, SOCK_DGRAM, NETLINK_SOCK_DIAG); }
int audit_log(const Ground&) { return makes(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); }
int firewall(const Ground&) { return makes(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); }
int key_management(const Ground&) { return makes(AF_KEY, SOCK_RAW, 2); }
int express_data_path(const Ground&) { return makes(AF_XDP, SOCK_RAW, 0); }
int bluetooth(const Ground&) { return makes(AF_BLUETOOTH, SOCK_RAW, 1); }
int vsock_datagram(const Ground&) { return makes(AF_VSOCK, SOCK_DGRAM, 0); }

}  // namespace

const std::vector<Attempt>& socket_attempts() {
  static const std::vector<Attempt> list = {
      {"connect_tcp_6", Control::owner, Scope::always, connect_tcp_6},
      {"connect_mapped", Control::owner, Scope::always, connect_mapped},
      {"connect_any_address", Control::owner, Scope::always, connect_any_address},
      {"connect_mptcp", Control::owner, Scope::always, connect_mptcp},
      {"fast_open", Control::owner, Scope::always, fast_open},
      {"connect_late", Control::owner, Scope::always, connect_late},
      {"connect_in_the_background", Control::owner, Scope::always, connect_in_the_background},
      {"datagram_by_sendmsg", Control::owner, Scope::always, datagram_by_sendmsg},
      {"datagrams_by_sendmmsg", Control::owner, Scope::always, datagrams_by_sendmmsg},
      {"post_letter", Control::owner, Scope::always, post_letter},
      {"post_letter_from_a_pair", Control::owner, Scope::always, post_letter_from_a_pair},
      {"every_packet", Control::root, Scope::always, every_packet},
      {"raw_ip", Control::root, Scope::always, raw_ip},
      {"raw_tcp", Control::root, Scope::always, raw_tcp},
      {"socket_list", Control::owner, Scope::always, socket_list},
      {"audit_log", Control::owner, Scope::always, audit_log},
      {"firewall", Control::owner, Scope::always, firewall},
      {"key_management", Control::root, Scope::always, key_management},
      {"express_data_path", Control::root, Scope::always, express_data_path},
      {"bluetooth", Control::root, Scope::always, bluetooth},
      {"vsock_datagram", Control::owner, Scope::always, vsock_datagram},
  };
  return list;
}

}  // namespace sortie::escape
