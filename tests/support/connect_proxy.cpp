#include "tests/support/connect_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/base/fd.h"

namespace sortie::test {

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<std::uint16_t>(port));
  return address;
}

const sockaddr* plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// Waits for one of them to bring something; false when the proxy is to end.
bool wait_for(int one, int other, int quit, pollfd (&waits)[3]) {
  waits[0] = {one, POLLIN, 0};
  waits[1] = {other, POLLIN, 0};
  waits[2] = {quit, POLLIN, 0};
  return ::poll(waits, 3, -1) > 0 && waits[2].revents == 0;
}

/// Bytes from one to the other; false at the end.
bool relay(int from, int to) {
  char buffer[16384];
  const ssize_t size = ::recv(from, buffer, sizeof buffer, 0);
  return size > 0 && ::send(to, buffer, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
}

}  // namespace

struct ConnectProxy::State {
  std::string authorization;
  Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Fd quit{::eventfd(0, EFD_CLOEXEC)};
  int port = 0;
  mutable std::mutex mutex;
  std::vector<std::string> requests;
  std::list<std::thread> peers;  ///< of the accepting thread alone
  std::thread thread;

  void run();
  void serve(int client);
  std::string read_head(int client);
};

void ConnectProxy::State::run() {
  pollfd waits[3];
  while (wait_for(listener.get(), -1, quit.get(), waits)) {
    Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    peers.emplace_back(
        [this, owned = std::make_shared<Fd>(std::move(client))] { serve(owned->get()); });
  }
  for (std::thread& peer : peers) peer.join();
}

std::string ConnectProxy::State::read_head(int client) {
  std::string head;
  pollfd waits[3];
  while (head.find("\r\n\r\n") == std::string::npos) {
    char byte = 0;
    if (!wait_for(client, -1, quit.get(), waits) || ::recv(client, &byte, 1, 0) != 1) return "";
    head += byte;
  }
  const std::lock_guard lock(mutex);
  requests.push_back(head);
  return head;
}

void ConnectProxy::State::serve(int client) {
  const auto say = [client](const std::string& text) {
    ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
  };
  const std::string head = read_head(client);
  if (head.empty()) return;
  if (!authorization.empty() &&
      head.find("Proxy-Authorization: " + authorization + "\r\n") == std::string::npos)
    return say("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  const std::size_t blank = head.find(' ', 8);
  const std::size_t colon = head.rfind(':', blank);
  const sockaddr_in target = loopback(std::stoi(head.substr(colon + 1, blank - colon - 1)));
  const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(server.get(), plain(target), sizeof target) != 0)
    return say("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  say("HTTP/1.1 200 Connection established\r\n\r\n");
  pollfd waits[3];
  while (wait_for(client, server.get(), quit.get(), waits)) {
    if (waits[0].revents != 0 && !relay(client, server.get())) return;
    if (waits[1].revents != 0 && !relay(server.get(), client)) return;
  }
}

ConnectProxy::ConnectProxy(std::string authorization) : state_(std::make_unique<State>()) {
  state_->authorization = std::move(authorization);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(state_->listener.get(), plain(address), size) != 0 ||
      ::listen(state_->listener.get(), 8) != 0 ||
      ::getsockname(state_->listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no proxy on loopback");
  state_->port = ::ntohs(address.sin_port);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

ConnectProxy::~ConnectProxy() {
  ::eventfd_write(state_->quit.get(), 1);
  state_->thread.join();
}

int ConnectProxy::port() const { return state_->port; }

std::vector<std::string> ConnectProxy::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

}  // namespace sortie::test
