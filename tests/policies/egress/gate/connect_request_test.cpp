#include "policies/egress/gate/connect_request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>

namespace sortie {
namespace {

constexpr std::uint16_t kPort = 3128;

template <typename Address>
std::string bytes_of(const Address& address, std::size_t size = sizeof(Address)) {
  return {reinterpret_cast<const char*>(&address), size};
}

std::string ipv4(const char* host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  BOOST_REQUIRE(::inet_pton(AF_INET, host, &address.sin_addr) == 1);
  return bytes_of(address);
}

std::string ipv6(const char* host, std::uint16_t port, std::size_t size = sizeof(sockaddr_in6)) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  BOOST_REQUIRE(::inet_pton(AF_INET6, host, &address.sin6_addr) == 1);
  return bytes_of(address, size);
}

std::string family(sa_family_t number) {
  sockaddr_storage address{};
  address.ss_family = number;
  return bytes_of(address);
}

/// "proxy", or the errno, followed by the address where the call was an attempt to leave.
std::string said(const ConnectVerdict& verdict) {
  if (verdict.to_proxy) return "proxy";
  std::string text = ::strerrorname_np(verdict.error);
  if (verdict.leaves) text += " " + verdict.host + " " + std::to_string(verdict.port);
  return text;
}

BOOST_AUTO_TEST_SUITE(connect_request)

BOOST_AUTO_TEST_CASE(only_the_address_of_the_proxy_leads_to_it) {
  const struct {
    SocketKind socket;
    std::string address;
    const char* verdict;
  } rows[] = {
      {SocketKind::tcp4, ipv4("127.0.0.1", kPort), "proxy"},
      {SocketKind::tcp4, ipv4("127.0.0.1", kPort) + std::string(112, 'x'), "proxy"},
      {SocketKind::tcp4, ipv4("127.0.0.1", kPort + 1), "ECONNREFUSED 127.0.0.1 3129"},
      {SocketKind::tcp4, ipv4("127.0.0.2", kPort), "ECONNREFUSED 127.0.0.2 3128"},
      {SocketKind::tcp4, ipv4("0.0.0.0", kPort), "ECONNREFUSED 0.0.0.0 3128"},
      {SocketKind::tcp4, ipv4("192.0.2.1", kPort), "ENETUNREACH 192.0.2.1 3128"},
      {SocketKind::tcp4, ipv4("1.0.0.127", kPort), "ENETUNREACH 1.0.0.127 3128"},
      {SocketKind::tcp4, ipv4("169.254.169.254", 80), "ENETUNREACH 169.254.169.254 80"},
      {SocketKind::tcp4, ipv4("127.0.0.1", 0), "ECONNREFUSED 127.0.0.1 0"},
      {SocketKind::tcp6, ipv6("::1", kPort), "proxy"},
      {SocketKind::tcp6, ipv6("::1", kPort, 24), "proxy"},
      {SocketKind::tcp6, ipv6("::ffff:127.0.0.1", kPort), "proxy"},
      {SocketKind::tcp6, ipv6("::1", 22), "ECONNREFUSED ::1 22"},
      {SocketKind::tcp6, ipv6("::ffff:127.0.0.1", 22), "ECONNREFUSED ::ffff:127.0.0.1 22"},
      {SocketKind::tcp6, ipv6("::ffff:10.0.0.1", kPort), "ENETUNREACH ::ffff:10.0.0.1 3128"},
      {SocketKind::tcp6, ipv6("::127.0.0.1", kPort), "ENETUNREACH ::127.0.0.1 3128"},
      {SocketKind::tcp6, ipv6("64:ff9b::7f00:1", kPort), "ENETUNREACH 64:ff9b::7f00:1 3128"},
      {SocketKind::tcp6, ipv6("::", kPort), "ECONNREFUSED :: 3128"},
      {SocketKind::tcp6, ipv6("fe80::1", kPort), "ENETUNREACH fe80::1 3128"},
  };
  for (const auto& row : rows)
    BOOST_TEST(said(judge_connect(row.socket, row.address, kPort)) == row.verdict);
}

BOOST_AUTO_TEST_CASE(a_wrong_call_is_answered_as_the_kernel_would) {
  const struct {
    const char* name;
    SocketKind socket;
    std::string address;
    int error;
  } rows[] = {
      {"no descriptor", SocketKind::no_descriptor, ipv4("127.0.0.1", kPort), EBADF},
      {"no socket", SocketKind::no_socket, ipv4("127.0.0.1", kPort), ENOTSOCK},
      {"end of a pair", SocketKind::other, ipv4("127.0.0.1", kPort), EISCONN},
      {"nothing", SocketKind::tcp4, "", EINVAL},
      {"half a family", SocketKind::tcp4, std::string(1, '\2'), EINVAL},
      {"a family alone", SocketKind::tcp4, family(AF_INET).substr(0, 2), EINVAL},
      {"one byte short", SocketKind::tcp4, ipv4("127.0.0.1", kPort).substr(0, 15), EINVAL},
      {"IPv6 too short", SocketKind::tcp6, ipv6("::1", kPort, 23), EINVAL},
      {"IPv4 on IPv6", SocketKind::tcp6, ipv4("127.0.0.1", kPort), EINVAL},
      {"long IPv4 on IPv6", SocketKind::tcp6, ipv4("127.0.0.1", kPort) + std::string(12, '\0'),
       EAFNOSUPPORT},
      {"IPv6 on IPv4", SocketKind::tcp4, ipv6("::1", kPort), EAFNOSUPPORT},
      {"disconnect", SocketKind::tcp4, family(AF_UNSPEC), EAFNOSUPPORT},
      {"a socket file", SocketKind::tcp4, family(AF_UNIX), EAFNOSUPPORT},
      {"a machine", SocketKind::tcp6, family(AF_VSOCK), EAFNOSUPPORT},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ConnectVerdict verdict = judge_connect(row.socket, row.address, kPort);
      BOOST_TEST(verdict.error == row.error);
      BOOST_TEST(!verdict.to_proxy);
      BOOST_TEST(!verdict.leaves);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie
