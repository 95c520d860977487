#include "policies/egress/gate/connect_request.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sortie {
namespace {

/// What /proc calls a socket's protocol: "TCP", "TCPv6", "UNIX-STREAM"; "" for anything else.
std::string protocol_of(const std::string& descriptor) {
  char name[64] = {};
  const ssize_t size = ::getxattr(descriptor.c_str(), "system.sockprotoname", name, sizeof name);
  return size > 0 ? std::string(name, ::strnlen(name, static_cast<std::size_t>(size))) : "";
}

SocketKind kind_of(const std::string& descriptor) {
  char target[64] = {};
  if (::readlink(descriptor.c_str(), target, sizeof target - 1) < 0)
    return SocketKind::no_descriptor;
  if (std::strncmp(target, "socket:", 7) != 0) return SocketKind::no_socket;
  const std::string protocol = protocol_of(descriptor);
  if (protocol == "TCP") return SocketKind::tcp4;
  return protocol == "TCPv6" ? SocketKind::tcp6 : SocketKind::other;
}

/// The line "flags:" of proc_pid_fdinfo(5), in octal.
unsigned long flags_of(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[512] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return 0;
  const char* const line = std::strstr(text, "flags:");
  return line == nullptr ? 0 : std::strtoul(line + 6, nullptr, 8);
}

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

FileAccessAs::FileAccessAs(uid_t uid, gid_t gid) noexcept
    : changed_(uid != ::geteuid() || gid != ::getegid()) {
  if (!changed_) return;
  dumpable_ = ::prctl(PR_GET_DUMPABLE);
  gid_ = static_cast<gid_t>(::setfsgid(gid));
  uid_ = static_cast<uid_t>(::setfsuid(uid));
}

FileAccessAs::~FileAccessAs() {
  if (!changed_) return;
  ::setfsuid(uid_);
  ::setfsgid(gid_);
  // Changing ids sets the process's dumpable state to fs.suid_dumpable.
  ::prctl(PR_SET_DUMPABLE, dumpable_ == 1 ? 1 : 0);
}

ThreadReader::ThreadReader(pid_t thread)
    : folder_("/proc/" + std::to_string(thread)),
      memory_(::open((folder_ + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}

int ThreadReader::read_memory(std::uint64_t address, std::size_t size, std::string& bytes) const {
  bytes.assign(size, '\0');
  if (size == 0) return 0;
  const ssize_t count = ::pread(memory_.get(), bytes.data(), size, static_cast<off_t>(address));
  return count == static_cast<ssize_t>(size) ? 0 : EFAULT;
}

SeenDescriptor ThreadReader::descriptor(int number) const {
  const std::string name = std::to_string(number);
  SeenDescriptor seen{.kind = kind_of(folder_ + "/fd/" + name)};
  const unsigned long flags = flags_of(folder_ + "/fdinfo/" + name);
  seen.non_blocking = (flags & O_NONBLOCK) != 0;
  seen.close_on_exec = (flags & O_CLOEXEC) != 0;
  return seen;
}

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
  // AF_UNSPEC would dissolve the connection, which the gate can't do from outside.
  if (family == AF_UNSPEC) return refused(EAFNOSUPPORT);
  return socket == SocketKind::tcp4 ? judge_tcp4(address, proxy_port)
                                    : judge_tcp6(address, proxy_port);
}

}  // namespace sortie
