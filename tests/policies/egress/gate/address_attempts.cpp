#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.h"
#include "tests/policies/egress/gate/attempts.h"

namespace sortie::gated {
namespace {

sockaddr_in ipv4(const char* host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

sockaddr_in6 ipv6(const char* host, int port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET6, host, &address.sin6_addr);
  return address;
}

Fd tcp(int family = AF_INET) { return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

/// The call itself, since the C library's declaration knows no negative length.
int call_connect(long descriptor, const void* address, long length) {
  return static_cast<int>(::syscall(SYS_connect, descriptor, address, length));
}

std::string connected(const Fd& socket, const void* address, long length) {
  const int result = call_connect(socket.get(), address, length);
  return result == 0 ? talk(socket.get()) : outcome(result);
}

std::string to_ipv4(const char* host, int port) {
  const sockaddr_in address = ipv4(host, port);
  return connected(tcp(), &address, sizeof address);
}

std::string to_ipv6(const char* host, int port) {
  const sockaddr_in6 address = ipv6(host, port);
  return connected(tcp(AF_INET6), &address, sizeof address);
}

/// The proxy's address, given in `length` bytes.
std::string with_length(const Outside& outside, long length) {
  sockaddr_storage storage{};
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  std::memcpy(&storage, &address, sizeof address);
  return connected(tcp(), &storage, length);
}

/// The proxy's address at `distance` bytes before a page that is not there.
std::string at_page_end(const Outside& outside, std::size_t distance) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::munmap(memory + page, page);
  char* const place = memory + page - distance;
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  std::memcpy(place, &address, std::min(distance, sizeof address));
  return connected(tcp(), place, sizeof address);
}

std::string with_family(int family) {
  sockaddr_in address = ipv4("127.0.0.1", 0);
  address.sin_family = static_cast<sa_family_t>(family);
  return connected(tcp(), &address, sizeof address);
}

std::string on_descriptor(long descriptor, const Outside& outside) {
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  return outcome(call_connect(descriptor, &address, sizeof address));
}

std::string non_blocking(const Outside& outside) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  if (const int result = call_connect(socket.get(), &address, sizeof address))
    return outcome(result);
  pollfd poll{socket.get(), POLLOUT, 0};
  if (::poll(&poll, 1, 0) != 1 || poll.revents != POLLOUT) return "not writable";
  int error = -1;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return "has an error";
  if ((::fcntl(socket.get(), F_GETFL) & O_NONBLOCK) == 0) return "blocks";
  if ((::fcntl(socket.get(), F_GETFD) & FD_CLOEXEC) == 0) return "is inherited";
  char byte = 0;
  if (::read(socket.get(), &byte, 1) != -1 || errno != EAGAIN) return "reads without data";
  return talk(socket.get());
}

std::string keeps_no_flags(const Outside& outside) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  if (const int result = call_connect(socket.get(), &address, sizeof address))
    return outcome(result);
  if ((::fcntl(socket.get(), F_GETFL) & O_NONBLOCK) != 0) return "does not block";
  if ((::fcntl(socket.get(), F_GETFD) & FD_CLOEXEC) != 0) return "is not inherited";
  return talk(socket.get());
}

/// Programs ask a socket for its addresses, and trust the family that it was made with.
std::string has_addresses(int family, const char* host, const Outside& outside) {
  const Fd socket = tcp(family);
  const sockaddr_in v4 = ipv4(host, outside.proxy_port);
  const sockaddr_in6 v6 = ipv6(host, outside.proxy_port);
  const int result = family == AF_INET ? call_connect(socket.get(), &v4, sizeof v4)
                                       : call_connect(socket.get(), &v6, sizeof v6);
  if (result != 0) return outcome(result);
  for (const auto ask : {::getsockname, ::getpeername}) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (ask(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return outcome(-1);
    if (address.ss_family != family) return "is of another family";
  }
  return "ok";
}

std::string twice(const Outside& outside) {
  const Fd socket = tcp();
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  if (call_connect(socket.get(), &address, sizeof address) != 0) return outcome(-1);
  return connected(socket, &address, sizeof address);
}

std::string after_a_refusal(const Outside& outside) {
  const Fd socket = tcp();
  const sockaddr_in refused = ipv4("192.0.2.1", 443);
  if (call_connect(socket.get(), &refused, sizeof refused) == 0) return "got through";
  const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
  return connected(socket, &address, sizeof address);
}

}  // namespace

std::vector<Attempt> address_attempts() {
  const auto no_socket = [](const Outside& outside) {
    const Pipe pipe = make_pipe();
    return on_descriptor(pipe.read.get(), outside);
  };
  const auto pair_end = [](const Outside& outside) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return outcome(-1);
    const Fd one(ends[0]);
    const Fd other(ends[1]);
    return on_descriptor(one.get(), outside);
  };
  const auto high_bits = [](const Outside& outside) {
    const Fd socket = tcp();
    const std::string result = on_descriptor((1L << 32) | socket.get(), outside);
    return result == "ok" ? talk(socket.get()) : result;
  };
  const auto ipv4_on_ipv6 = [](const Outside& outside) {
    const sockaddr_in address = ipv4("127.0.0.1", outside.proxy_port);
    return connected(tcp(AF_INET6), &address, sizeof address);
  };
  const auto ipv6_on_ipv4 = [](const Outside& outside) {
    const sockaddr_in6 address = ipv6("::1", outside.proxy_port);
    return connected(tcp(), &address, sizeof address);
  };
  return {
      {"proxy", [](auto& o) { return to_ipv4("127.0.0.1", o.proxy_port); }},
      {"proxy_ipv6", [](auto& o) { return to_ipv6("::1", o.proxy_port); }},
      {"proxy_mapped", [](auto& o) { return to_ipv6("::ffff:127.0.0.1", o.proxy_port); }},
      {"direct", [](auto& o) { return to_ipv4("127.0.0.1", o.tcp_port); }},
      {"direct_elsewhere", [](auto& o) { return to_ipv4("127.0.0.2", o.proxy_port); }},
      {"direct_any", [](auto& o) { return to_ipv4("0.0.0.0", o.tcp_port); }},
      {"direct_mapped", [](auto& o) { return to_ipv6("::ffff:127.0.0.1", o.tcp_port); }},
      {"direct_ipv6", [](auto& o) { return to_ipv6("::1", o.tcp_port); }},
      {"far", [](auto&) { return to_ipv4("192.0.2.1", 443); }},
      {"far_ipv6", [](auto&) { return to_ipv6("2001:db8::1", 443); }},
      {"far_on_proxy_port", [](auto& o) { return to_ipv4("192.0.2.1", o.proxy_port); }},
      {"length_0", [](auto& o) { return with_length(o, 0); }},
      {"length_1", [](auto& o) { return with_length(o, 1); }},
      {"length_8", [](auto& o) { return with_length(o, 8); }},
      {"length_128", [](auto& o) { return with_length(o, 128); }},
      {"length_129", [](auto& o) { return with_length(o, 129); }},
      {"length_negative", [](auto& o) { return with_length(o, -1); }},
      {"length_high_bits", [](auto& o) { return with_length(o, (1L << 32) | 16); }},
      {"null_address", [](auto&) { return connected(tcp(), nullptr, 16); }},
      {"kernel_address",
       [](auto&) {
         return connected(tcp(), reinterpret_cast<const void*>(0xffffffff81000000ul), 16);
       }},
      {"page_end", [](auto& o) { return at_page_end(o, 16); }},
      {"past_page_end", [](auto& o) { return at_page_end(o, 8); }},
      {"family_unspecified", [](auto&) { return with_family(AF_UNSPEC); }},
      {"family_unix", [](auto&) { return with_family(AF_UNIX); }},
      {"ipv4_on_ipv6", ipv4_on_ipv6},
      {"ipv6_on_ipv4", ipv6_on_ipv4},
      {"no_descriptor", [](auto& o) { return on_descriptor(99, o); }},
      {"negative_descriptor", [](auto& o) { return on_descriptor(-1, o); }},
      {"no_socket", no_socket},
      {"pair_end", pair_end},
      {"high_bits", high_bits},
      {"non_blocking", non_blocking},
      {"keeps_no_flags", keeps_no_flags},
      {"addresses", [](auto& o) { return has_addresses(AF_INET, "127.0.0.1", o); }},
      {"addresses_ipv6", [](auto& o) { return has_addresses(AF_INET6, "::ffff:127.0.0.1", o); }},
      {"twice", twice},
      {"after_a_refusal", after_a_refusal},
  };
}

std::string outcome(long result) { return result >= 0 ? "ok" : ::strerrorname_np(errno); }

std::string talk(int socket) {
  if (::send(socket, "ping", 4, MSG_NOSIGNAL) != 4) return outcome(-1);
  std::string answer;
  while (answer.size() < 9) {
    pollfd poll{socket, POLLIN, 0};
    if (::poll(&poll, 1, 20'000) != 1) return "no answer";
    char buffer[16];
    const ssize_t count = ::read(socket, buffer, sizeof buffer);
    if (count <= 0) return "closed after '" + answer + "'";
    answer.append(buffer, static_cast<std::size_t>(count));
  }
  return answer == "echo:ping" ? "ok" : "odd answer: " + answer;
}

std::string reach(int port) { return to_ipv4("127.0.0.1", port); }

}  // namespace sortie::gated
