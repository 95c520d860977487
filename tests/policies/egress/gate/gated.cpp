#include "tests/policies/egress/gate/gated.h"

#include <arpa/inet.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "tests/support/refuse_namespaces.h"

namespace sortie::test {
namespace {

void drop_tracing() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  ::syscall(SYS_capget, &header, sets);
  for (auto* set : {&sets[0].effective, &sets[0].permitted, &sets[0].inheritable})
    *set &= ~(1u << CAP_SYS_PTRACE);
  if (::syscall(SYS_capset, &header, sets) != 0) throw std::runtime_error("capset");
}

Fd bound_to_loopback(int type, int& port) {
  Fd socket(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), raw, length) != 0 || ::getsockname(socket.get(), raw, &length) != 0)
    throw std::runtime_error("bind");
  port = ntohs(address.sin_port);
  return socket;
}

void echo(int socket) {
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(socket, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const std::string answer = "echo:" + std::string(buffer, static_cast<std::size_t>(count));
    if (!write_all(socket, answer)) break;
  }
  ::shutdown(socket, SHUT_RDWR);
}

}  // namespace

std::vector<GateWay> gate_ways() {
  if (::geteuid() != 0) return {{"a user", ::geteuid(), ::geteuid()}};
  return {{"root", 0, 0},
          {"uid 1000", 1000, 1000},
          {"root for uid 1000", 0, 1000},
          {"root of a container for uid 1000", 0, 1000, false}};
}

std::string gated(const GateWay& way, const std::function<std::string(Sandboxed& here)>& body) {
  return found_wrong({way.name, way.uid, false}, [&](Sandboxed& here) {
    if (!way.may_trace) drop_tracing();
    if (refuse_namespaces() != 0) return std::string("namespaces could not be refused\n");
    ::prctl(PR_SET_DUMPABLE, 0);  // as the program is
    here.profile.network = NetworkMode::allow_list;
    here.profile.uid = here.profile.gid = way.commands;
    here.profile.readable = {fs::path(attempts_program()).parent_path()};
    return body(here);
  });
}

Echo::~Echo() {
  end();
  for (auto& thread : threads_) thread.join();
}

void Echo::adopt(Fd connection) {
  const std::lock_guard lock(mutex_);
  connections_.push_back(std::move(connection));
  threads_.emplace_back([socket = connections_.back().get()] { echo(socket); });
}

void Echo::end() {
  const std::lock_guard lock(mutex_);
  for (const Fd& connection : connections_) ::shutdown(connection.get(), SHUT_RDWR);
}

int Echo::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(connections_.size());
}

HostListener::HostListener()
    : tcp_(bound_to_loopback(SOCK_STREAM, tcp_port_)),
      udp_(bound_to_loopback(SOCK_DGRAM, udp_port_)) {
  if (::listen(tcp_.get(), 16) != 0) throw std::runtime_error("listen");
}

std::string HostListener::caught() const {
  pollfd ends[2] = {{tcp_.get(), POLLIN, 0}, {udp_.get(), POLLIN, 0}};
  ::poll(ends, 2, 0);
  std::string what;
  if (ends[0].revents != 0) what += "a connection came through\n";
  if (ends[1].revents != 0) what += "a datagram came through\n";
  return what;
}

void Reports::add(const EgressConnection& connection) {
  const std::lock_guard lock(mutex_);
  all_.push_back(connection);
  added_.notify_all();
}

std::vector<EgressConnection> Reports::wait_for(std::size_t count) const {
  std::unique_lock lock(mutex_);
  added_.wait_for(lock, std::chrono::seconds(10), [&] { return all_.size() >= count; });
  return all_;
}

std::vector<EgressConnection> Reports::all() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

std::string attempts_program() {
  return std::string(SORTIE_BINARY_DIR) + "/tests/policies/egress/gate/gate_attempts";
}

}  // namespace sortie::test
