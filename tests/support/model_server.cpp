#include "tests/support/model_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/base/fd.h"
#include "tests/support/request_check.h"

namespace sortie::test {

namespace {

/// One accepted connection, plain or TLS.
class Peer {
 public:
  Peer(Fd socket, SSL_CTX* context, int quit) : socket_(std::move(socket)), quit_(quit) {
    if (!context) return;
    tls_ = SSL_new(context);
    SSL_set_fd(tls_, socket_.get());
    alive_ = SSL_accept(tls_) == 1;
  }
  Peer(const Peer&) = delete;
  ~Peer() {
    if (tls_) {
      SSL_shutdown(tls_);
      SSL_free(tls_);
    }
  }

  bool alive() const { return alive_; }

  /// Waits for bytes; "" at the connection's end, at the time given, or when the server quits.
  std::string read(int timeout_ms = -1) {
    if (!tls_ || SSL_pending(tls_) == 0) {
      pollfd waits[] = {{socket_.get(), POLLIN, 0}, {quit_, POLLIN, 0}};
      if (::poll(waits, 2, timeout_ms) <= 0) return "";
      if (waits[1].revents != 0) {
        alive_ = false;
        return "";
      }
    }
    char buffer[16384];
    const auto size = tls_ ? SSL_read(tls_, buffer, sizeof buffer)
                           : static_cast<int>(::recv(socket_.get(), buffer, sizeof buffer, 0));
    if (size <= 0) {
      alive_ = false;
      return "";
    }
    return {buffer, static_cast<std::size_t>(size)};
  }

  void write(std::string_view bytes) {
    while (alive_ && !bytes.empty()) {
      const int chunk = static_cast<int>(std::min<std::size_t>(bytes.size(), 1u << 16));
      const auto size =
          tls_ ? SSL_write(tls_, bytes.data(), chunk)
               : static_cast<int>(::send(socket_.get(), bytes.data(), chunk, MSG_NOSIGNAL));
      if (size <= 0) {
        alive_ = false;
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

 private:
  Fd socket_;
  int quit_;
  SSL* tls_ = nullptr;
  bool alive_ = true;
};

/// Reads one request; nothing when the connection ends before it is whole.
std::optional<ReceivedRequest> read_request(Peer& peer, std::string& buffer) {
  std::size_t end = std::string::npos;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    buffer += peer.read();
    if (!peer.alive()) return std::nullopt;
  }
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
  while (buffer.size() < size) {
    buffer += peer.read();
    if (!peer.alive()) return std::nullopt;
  }
  request.body = buffer.substr(0, size);
  buffer.erase(0, size);
  return request;
}

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
  SSL_CTX* context = nullptr;
  int port = 0;
  mutable std::mutex mutex;
  std::vector<ReceivedRequest> requests;
  int connections = 0;
  std::thread thread;

  void run();
  void serve(Peer& peer, int connection);
  bool respond(Peer& peer, const ServedResponse& response);
};

void ModelServer::State::run() {
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
    Peer peer(std::move(socket), context, quit.get());
    if (peer.alive()) serve(peer, number);
  }
}

void ModelServer::State::serve(Peer& peer, int connection) {
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
bool ModelServer::State::respond(Peer& peer, const ServedResponse& response) {
  const std::size_t piece = response.piece ? response.piece : response.bytes.size();
  for (std::size_t at = 0; at < response.bytes.size(); at += piece)
    peer.write(std::string_view(response.bytes).substr(at, piece));
  switch (response.then) {
    case ServedResponse::Then::keep:
      return peer.alive();
    case ServedResponse::Then::close:
      return false;
    case ServedResponse::Then::hang:
      while (peer.alive()) peer.read();
      return false;
    case ServedResponse::Then::drip:
      while (peer.alive()) {
        peer.write(response.drip);
        peer.read(static_cast<int>(response.every.count()));
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
  if (certificate) {
    state_->context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_file(state_->context, certificate->certificate.c_str(),
                                     SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(state_->context, certificate->key.c_str(), SSL_FILETYPE_PEM) !=
            1)
      throw std::runtime_error("the server's certificate can't be read");
  }
  // OpenSSL writes without MSG_NOSIGNAL; the thread inherits the mask.
  sigset_t pipe;
  sigset_t before;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  state_->thread = std::thread([this] { state_->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ModelServer::~ModelServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->quit.get(), &one, sizeof one);
  state_->thread.join();
  SSL_CTX_free(state_->context);
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
