#include "tests/support/loopback_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/base/fd.h"
#include "tests/support/served_peer.h"

namespace sortie::test {
namespace {

void respond(ServedPeer& peer, const ServedResponse& response) {
  if (response.before) response.before();
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
  TlsContext context;
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
  block_broken_pipes();
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
    ServedPeer peer(std::move(socket), context.get(), quit.get());
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

LoopbackHttp::LoopbackHttp(Handler handler, const std::optional<ServerCertificate>& certificate)
    : state_(std::make_unique<State>()) {
  state_->handler = std::move(handler);
  state_->context = make_tls_context(certificate);
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

std::string LoopbackHttp::url(const std::string& path, const std::string& host) const {
  return (state_->context ? "https://" : "http://") + host + ":" + std::to_string(port()) + path;
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
