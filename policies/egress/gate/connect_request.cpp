#include "policies/egress/gate/connect_request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace sortie {
namespace {

constexpr std::size_t kShortestIpv6 = 24;  // without the scope: RFC 2133, which Linux still takes

ConnectVerdict refused(int error) { return {.error = error}; }

ConnectVerdict judge_ipv4(in_addr address, int port, std::uint16_t proxy_port, std::string host) {
  const std::uint32_t number = ntohl(address.s_addr);
  if (number == INADDR_LOOPBACK && port == proxy_port) return {.to_proxy = true};
  const bool own = (number >> 24) == 127 || number == INADDR_ANY;
  return {.error = own ? ECONNREFUSED : ENETUNREACH,
          .leaves = true,
          .host = std::move(host),
          .port = port};
}

template <typename Address>
std::string text_of(int family, const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  return ::inet_ntop(family, &address, text, sizeof text) == nullptr ? "" : text;
}

ConnectVerdict judge_tcp4(std::string_view bytes, std::uint16_t proxy_port) {
  sockaddr_in address{};
  if (bytes.size() < sizeof address) return refused(EINVAL);
  std::memcpy(&address, bytes.data(), sizeof address);
  if (address.sin_family != AF_INET) return refused(EAFNOSUPPORT);
  return judge_ipv4(address.sin_addr, ntohs(address.sin_port), proxy_port,
                    text_of(AF_INET, address.sin_addr));
}

ConnectVerdict judge_tcp6(std::string_view bytes, std::uint16_t proxy_port) {
  sockaddr_in6 address{};
  if (bytes.size() < kShortestIpv6) return refused(EINVAL);
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
  if (address.sin6_family != AF_INET6) return refused(EAFNOSUPPORT);
  const int port = ntohs(address.sin6_port);
  std::string host = text_of(AF_INET6, address.sin6_addr);
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    in_addr mapped{};
    std::memcpy(&mapped, address.sin6_addr.s6_addr + 12, sizeof mapped);
    return judge_ipv4(mapped, port, proxy_port, std::move(host));
  }
  const bool own = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr) != 0;
  if (own && port == proxy_port) return {.to_proxy = true};
  return {.error = own || IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr) ? ECONNREFUSED : ENETUNREACH,
          .leaves = true,
          .host = std::move(host),
          .port = port};
}

}  // namespace

ConnectVerdict judge_connect(SocketKind socket, std::string_view address,
                             std::uint16_t proxy_port) {
  sa_family_t family = AF_UNSPEC;
  switch (socket) {
    case SocketKind::no_descriptor:
      return refused(EBADF);
    case SocketKind::no_socket:
      return refused(ENOTSOCK);
    case SocketKind::other:
      return refused(EISCONN);  // one end of a socketpair(2): nothing else is to be had
    case SocketKind::tcp4:
    case SocketKind::tcp6:
      break;
  }
  if (address.size() < sizeof family) return refused(EINVAL);
  std::memcpy(&family, address.data(), sizeof family);
  // It would break the connection, which the gate can't do from outside.
  if (family == AF_UNSPEC) return refused(EAFNOSUPPORT);
  return socket == SocketKind::tcp4 ? judge_tcp4(address, proxy_port)
                                    : judge_tcp6(address, proxy_port);
}

}  // namespace sortie
