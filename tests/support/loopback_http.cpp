#include "tests/support/loopback_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "core/base/fd.h"

namespace sortie::test {
namespace {

/// One accepted connection.
class Peer {
 public:
  Peer(Fd socket, int quit) : socket_(std::move(socket)), quit_(quit) {}

  /// False at the connection's end, at the time given and when the server quits.
  bool read(std::string& buffer, int timeout_ms = -1) {
    pollfd waits[] = {{socket_.get(), POLLIN, 0}, {quit_, POLLIN, 0}};
    const int ready = ::poll(waits, 2, timeout_ms);
    if (ready == 0) return true;
    if (ready < 0 || waits[1].revents != 0) return alive_ = false;
    char bytes[65536];
    const ssize_t size = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (size <= 0) return alive_ = false;
    buffer.append(bytes, static_cast<std::size_t>(size));
    return true;
  }

  void write(std::string_view bytes) {
    while (alive_ && !bytes.empty()) {
      pollfd waits[] = {{socket_.get(), POLLOUT, 0}, {quit_, POLLIN, 0}};
      if (::poll(waits, 2, -1) < 0 || waits[1].revents != 0) alive_ = false;
      if (!alive_) return;
      const ssize_t size =
          ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size < 0 && errno == EAGAIN) continue;
      if (size <= 0) alive_ = false;
      if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  bool alive() const { return alive_; }

 private:
  Fd socket_;
  int quit_;
  bool alive_ = true;
};

std::optional<ReceivedRequest> read_request(Peer& peer, std::string& buffer) {
  std::size_t end = std::string::npos;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
    if (!peer.read(buffer)) return std::nullopt;
  ReceivedRequest request;
  std::size_t at = buffer.find("\r\n");
  request.line = buffer.substr(0, at);
  while (at < end) {
    const std::size_t next = buffer.find("\r\n", at + 2);
    const std::string line = buffer.substr(at + 2, next - at - 2);
    const std::size_t colon = line.find(": ");
    request.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    at = next;
  }
  const std::string length(header_value(request.headers, "Content-Length"));
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  buffer.erase(0, end + 4);
  while (buffer.size() < size)
    if (!peer.read(buffer)) return std::nullopt;
  request.body = buffer.substr(0, size);
  buffer.erase(0, size);
  return request;
}

void respond(Peer& peer, const ServedResponse& response) {
  peer.write(response.bytes);
  std::string ignored;
  if (response.then == ServedResponse::Then::hang)
    while (peer.read(ignored)) ignored.clear();
  if (response.then == ServedResponse::Then::drip)
    while (peer.read(ignored, static_cast<int>(response.every.count()))) peer.write(response.drip);
}

}  // namespace

struct LoopbackHttp::State {
  Handler handler;
  Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Fd quit{::eventfd(0, EFD_CLOEXEC)};
  int port = 0;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::vector<ReceivedRequest> requests;
  std::size_t closed = 0;
  std::mutex handling;
  std::list<std::thread> peers;  ///< of the accepting thread alone
  std::thread thread;

  void run();
  void serve(Fd socket, int number);
};

void LoopbackHttp::State::run() {
  for (int number = 1;; ++number) {
    pollfd waits[] = {{listener.get(), POLLIN, 0}, {quit.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) break;
    Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    peers.emplace_back([this, number, owned = std::make_shared<Fd>(std::move(socket))] {
      serve(std::move(*owned), number);
    });
  }
  for (std::thread& peer : peers) peer.join();
}

void LoopbackHttp::State::serve(Fd socket, int number) {
  {
    Peer peer(std::move(socket), quit.get());
    std::string buffer;
    while (peer.alive()) {
      auto request = read_request(peer, buffer);
      if (!request) break;
      request->connection = number;
      {
        const std::lock_guard lock(mutex);
        requests.push_back(*request);
        changed.notify_all();
      }
      ServedResponse response;
      {
        const std::lock_guard one(handling);
        response = handler(*request);
      }
      respond(peer, response);
      if (response.then != ServedResponse::Then::keep) break;
    }
  }
  const std::lock_guard lock(mutex);
  ++closed;
  changed.notify_all();
}

LoopbackHttp::LoopbackHttp(Handler handler) : state_(std::make_unique<State>()) {
  state_->handler = std::move(handler);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(state_->listener.get(), plain, size) != 0 ||
      ::listen(state_->listener.get(), 64) != 0 ||
      ::getsockname(state_->listener.get(), plain, &size) != 0)
    throw std::runtime_error("no loopback port to be had");
  state_->port = ntohs(address.sin_port);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

LoopbackHttp::~LoopbackHttp() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->quit.get(), &one, sizeof one);
  state_->thread.join();
}

int LoopbackHttp::port() const { return state_->port; }

std::string LoopbackHttp::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port()) + path;
}

std::vector<ReceivedRequest> LoopbackHttp::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

std::vector<std::string> LoopbackHttp::headers(const std::string& line,
                                               const std::string& name) const {
  std::vector<std::string> values;
  for (const ReceivedRequest& request : requests())
    if (request.line.starts_with(line)) values.emplace_back(header_value(request.headers, name));
  return values;
}

std::size_t LoopbackHttp::count(const std::string& line) const { return headers(line, "").size(); }

void LoopbackHttp::wait_for(const std::string& line, std::size_t number) const {
  std::unique_lock lock(state_->mutex);
  const bool came = state_->changed.wait_for(lock, std::chrono::seconds(30), [&] {
    std::size_t found = 0;
    for (const ReceivedRequest& request : state_->requests)
      found += request.line.starts_with(line) ? 1 : 0;
    return found >= number;
  });
  if (!came) throw std::runtime_error("no request came: " + line);
}

void LoopbackHttp::wait_for_closed(std::size_t number) const {
  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait_for(lock, std::chrono::seconds(30),
                                [&] { return state_->closed >= number; }))
    throw std::runtime_error("no connection was closed");
}

}  // namespace sortie::test
