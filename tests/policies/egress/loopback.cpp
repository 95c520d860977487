#include "tests/policies/egress/loopback.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>

namespace sortie::test {
namespace {

sockaddr_in loopback_address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Reads one piece; empty at the end.
std::string read_piece(const Fd& socket, std::size_t most) {
  std::string piece(most, '\0');
  ssize_t count = 0;
  do count = ::recv(socket.get(), piece.data(), piece.size(), 0);
  while (count < 0 && errno == EINTR);
  piece.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return piece;
}

}  // namespace

Listener listen_on_loopback(int backlog) {
  Listener listener{Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = loopback_address(0);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (::bind(listener.socket.get(), raw, length) != 0 ||
      ::listen(listener.socket.get(), backlog) != 0 ||
      ::getsockname(listener.socket.get(), raw, &length) != 0)
    throw std::runtime_error("no listener on loopback");
  listener.port = ntohs(address.sin_port);
  return listener;
}

Fd connect_to(int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback_address(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("can't connect to port " + std::to_string(port));
  return socket;
}

bool send_text(const Fd& socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string read_until(const Fd& socket, std::string_view end) {
  std::string text;
  while (!std::string_view(text).ends_with(end)) {
    const std::string piece = read_piece(socket, 1);
    if (piece.empty()) break;
    text += piece;
  }
  return text;
}

std::string read_all(const Fd& socket) {
  std::string text;
  for (;;) {
    const std::string piece = read_piece(socket, 64 << 10);
    if (piece.empty()) return text;
    text += piece;
  }
}

std::string read_bytes(const Fd& socket, std::size_t count) {
  std::string text;
  while (text.size() < count) {
    const std::string piece = read_piece(socket, count - text.size());
    if (piece.empty()) break;
    text += piece;
  }
  return text;
}

void end_sending(const Fd& socket) { ::shutdown(socket.get(), SHUT_WR); }

LoopbackServer::LoopbackServer(std::function<void(const Fd&)> serve)
    : listener_(listen_on_loopback()), serve_(std::move(serve)) {
  accepting_ = std::thread([this] {
    for (;;) {
      Fd socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) return;
      const std::lock_guard lock(mutex_);
      // A second descriptor, so that the destructor can end what still waits.
      sockets_.emplace_back(::dup(socket.get()));
      threads_.emplace_back([this, mine = std::move(socket)] {
        serve_(mine);
        ::shutdown(mine.get(), SHUT_RDWR);
      });
    }
  });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_.socket.get(), SHUT_RDWR);
  accepting_.join();
  for (const Fd& socket : sockets_) ::shutdown(socket.get(), SHUT_RDWR);
  for (auto& thread : threads_) thread.join();
}

int LoopbackServer::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(sockets_.size());
}

void FakeResolver::set(const std::string& name, std::vector<std::vector<std::string>> answers) {
  const std::lock_guard lock(mutex_);
  answers_[name] = std::move(answers);
  asked_[name] = 0;
}

std::vector<IpAddress> FakeResolver::resolve(const std::string& name, std::string& problem) {
  std::unique_lock lock(mutex_);
  ++calls_;
  changed_.wait(lock, [this] { return !held_; });
  const auto found = answers_.find(name);
  if (found == answers_.end()) {
    problem = "no such name";
    return {};
  }
  std::size_t& asked = asked_[name];
  const auto& answer = found->second[std::min(asked, found->second.size() - 1)];
  ++asked;
  std::vector<IpAddress> addresses;
  for (const auto& text : answer) addresses.push_back(*read_ip_address(text));
  return addresses;
}

int FakeResolver::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void FakeResolver::hold(bool on) {
  {
    const std::lock_guard lock(mutex_);
    held_ = on;
  }
  changed_.notify_all();
}

ProxyFixture::ProxyFixture(const std::vector<std::string>& allow, EgressLimits limits,
                           ProxySettings ahead) {
  proxy_ = std::make_unique<EgressProxy>(
      allow,
      [this](const EgressConnection& connection) {
        const std::lock_guard lock(mutex_);
        if (failing_) throw std::runtime_error("no room for a record");
        reports_.push_back(connection);
        changed_.notify_all();
      },
      limits, resolver_, std::move(ahead));
  Listener listener = listen_on_loopback();
  port_ = listener.port;
  proxy_->listen(std::move(listener.socket));
}

ProxyFixture::~ProxyFixture() { resolver_->hold(false); }

std::string ProxyFixture::ask(const std::string& request) const {
  const Fd socket = connect();
  send_text(socket, request);
  return read_all(socket);
}

std::vector<EgressConnection> ProxyFixture::reports() const {
  const std::lock_guard lock(mutex_);
  return reports_;
}

std::vector<EgressConnection> ProxyFixture::wait_for_ends(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(60), [&] {
    const auto ends = std::count_if(reports_.begin(), reports_.end(), [](const auto& report) {
      return report.state != EgressConnection::State::opened;
    });
    return static_cast<std::size_t>(ends) >= count;
  });
  return reports_;
}

void ProxyFixture::fail_reports() {
  const std::lock_guard lock(mutex_);
  failing_ = true;
}

}  // namespace sortie::test
