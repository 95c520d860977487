#include "tests/support/model_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/base/fd.h"
#include "tests/support/request_check.h"
#include "tests/support/served_peer.h"

namespace sortie::test {

namespace {

std::string chunked_bytes(const std::string& body, std::size_t size) {
  std::string result;
  for (std::size_t at = 0; at < body.size(); at += size) {
    const std::string piece = body.substr(at, size);
    char head[20];
    std::snprintf(head, sizeof head, "%zx\r\n", piece.size());
    result += head + piece + "\r\n";
  }
  return result + "0\r\n\r\n";
}

}  // namespace

ServedResponse served_stream(const std::string& sse, bool chunked) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";
  if (chunked)
    return {.bytes = head + "Transfer-Encoding: chunked\r\n\r\n" + chunked_bytes(sse, 1000)};
  return {.bytes = head + "\r\n" + sse, .then = ServedResponse::Then::close};
}

ServedResponse served_status(int status, const HttpHeaders& headers, const std::string& body) {
  std::string bytes = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  for (const auto& [name, value] : headers) bytes += name + ": " + value + "\r\n";
  return {.bytes = bytes + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
}

struct ModelServer::State {
  std::vector<ServedResponse> responses;
  Fd listener;
  Fd quit{::eventfd(0, EFD_CLOEXEC)};
  TlsContext context;
  int port = 0;
  mutable std::mutex mutex;
  std::vector<ReceivedRequest> requests;
  int connections = 0;
  std::thread thread;

  void run();
  void serve(ServedPeer& peer, int connection);
  bool respond(ServedPeer& peer, const ServedResponse& response);
};

void ModelServer::State::run() {
  block_broken_pipes();
  for (;;) {
    pollfd waits[] = {{listener.get(), POLLIN, 0}, {quit.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno == EINTR) continue;
    if (waits[1].revents != 0) return;
    Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    int number = 0;
    {
      const std::lock_guard lock(mutex);
      number = ++connections;
    }
    ServedPeer peer(std::move(socket), context.get(), quit.get());
    if (peer.alive()) serve(peer, number);
  }
}

void ModelServer::State::serve(ServedPeer& peer, int connection) {
  std::string buffer;
  for (;;) {
    auto request = read_request(peer, buffer);
    if (!request) return;
    request->connection = connection;
    ServedResponse response = served_status(500, {}, "the scenario has no more responses");
    {
      const std::lock_guard lock(mutex);
      if (requests.size() < responses.size()) response = responses[requests.size()];
      requests.push_back(std::move(*request));
    }
    if (!respond(peer, response)) return;
  }
}

/// False when the connection is to be closed.
bool ModelServer::State::respond(ServedPeer& peer, const ServedResponse& response) {
  const std::size_t piece = response.piece ? response.piece : response.bytes.size();
  for (std::size_t at = 0; at < response.bytes.size(); at += piece)
    peer.write(std::string_view(response.bytes).substr(at, piece));
  std::string ignored;
  switch (response.then) {
    case ServedResponse::Then::keep:
      return peer.alive();
    case ServedResponse::Then::close:
      return false;
    case ServedResponse::Then::hang:
      while (peer.read(ignored)) ignored.clear();
      return false;
    case ServedResponse::Then::drip:
      while (peer.alive()) {
        peer.write(response.drip);
        peer.read(ignored, static_cast<int>(response.every.count()));
      }
      return false;
  }
  return false;
}

ModelServer::ModelServer(std::vector<ServedResponse> responses,
                         std::optional<ServerCertificate> certificate)
    : state_(std::make_unique<State>()) {
  state_->responses = std::move(responses);
  state_->listener = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(state_->listener.get(), plain, size) != 0 ||
      ::listen(state_->listener.get(), 16) != 0 ||
      ::getsockname(state_->listener.get(), plain, &size) != 0)
    throw std::runtime_error("no loopback port to be had");
  state_->port = ntohs(address.sin_port);
  state_->context = make_tls_context(certificate);
  state_->thread = std::thread([this] { state_->run(); });
}

ModelServer::~ModelServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->quit.get(), &one, sizeof one);
  state_->thread.join();
  if (!checks_) return;
  for (const auto& [line, headers, body, connection] : state_->requests) {
    const std::string problem = request_problem(line, body);
    BOOST_TEST(problem == "", line << ": " << problem);
  }
}

int ModelServer::port() const { return state_->port; }

std::string ModelServer::url(const std::string& host) const {
  return (state_->context ? "https://" : "http://") + host + ":" + std::to_string(state_->port);
}

std::vector<ReceivedRequest> ModelServer::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

int ModelServer::connections() const {
  const std::lock_guard lock(state_->mutex);
  return state_->connections;
}

}  // namespace sortie::test
