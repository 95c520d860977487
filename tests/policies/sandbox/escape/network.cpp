#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

int reach(int family, int type, const void* address, socklen_t length) {
  const Fd socket(::socket(family, type | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  if (::connect(socket.get(), static_cast<const sockaddr*>(address), length) != 0) return errno;
  if (type == SOCK_STREAM) return 0;
  // A datagram got through when the other end answers that nobody is there, or takes it.
  if (::send(socket.get(), "x", 1, 0) != 1) return errno;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_tcp(const Ground& ground) {
  const sockaddr_in address = loopback(ground.tcp_port);
  return reach(AF_INET, SOCK_STREAM, &address, sizeof address);
}

int send_udp(const Ground& ground) {
  const sockaddr_in address = loopback(ground.udp_port);
  return reach(AF_INET, SOCK_DGRAM, &address, sizeof address);
}

int connect_abstract(const Ground& ground) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, ground.abstract.data(), ground.abstract.size());
  return reach(
      AF_UNIX, SOCK_STREAM, &address,
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + ground.abstract.size()));
}

int connect_socket_file(const Ground& ground) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = ground.outside + "/door";
  std::memcpy(address.sun_path, path.data(), path.size());
  return reach(AF_UNIX, SOCK_STREAM, &address, sizeof address);
}

int make_socket(long family, long type, long protocol) {
  const Fd socket(static_cast<int>(::syscall(SYS_socket, family, type, protocol)));
  return outcome(socket.get());
}

int raw_socket(const Ground&) { return make_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
int raw_socket_6(const Ground&) { return make_socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6); }
int packet_socket(const Ground&) { return make_socket(AF_PACKET, SOCK_RAW, 0); }
int vsock_socket(const Ground&) { return make_socket(AF_VSOCK, SOCK_STREAM, 0); }
int generic_netlink(const Ground&) { return make_socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC); }
int kernel_events(const Ground&) {
  return make_socket(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT);
}
int crypto_socket(const Ground&) { return make_socket(AF_ALG, SOCK_SEQPACKET, 0); }

/// The kernel cuts the family to an int: a filter that compares all bits must not be fooled.
int family_with_high_bits(const Ground&) {
  return make_socket((1L << 32) | AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
}

}  // namespace

const std::vector<Attempt>& network_attempts() {
  static const std::vector<Attempt> list = {
      {"connect_tcp", Control::owner, Scope::always, connect_tcp},
      {"send_udp", Control::owner, Scope::always, send_udp},
      {"connect_abstract", Control::owner, Scope::always, connect_abstract},
      {"connect_socket_file", Control::owner, Scope::always, connect_socket_file},
      {"raw_socket", Control::root, Scope::always, raw_socket},
      {"raw_socket_6", Control::root, Scope::always, raw_socket_6},
      {"packet_socket", Control::root, Scope::always, packet_socket},
      {"vsock_socket", Control::owner, Scope::always, vsock_socket},
      {"generic_netlink", Control::owner, Scope::always, generic_netlink},
      {"kernel_events", Control::owner, Scope::always, kernel_events},
      {"crypto_socket", Control::owner, Scope::always, crypto_socket},
      {"family_with_high_bits", Control::owner, Scope::always, family_with_high_bits},
  };
  return list;
}

}  // namespace sortie::escape
