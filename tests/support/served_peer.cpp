#include "tests/support/served_peer.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace sortie::test {

TlsContext make_tls_context(const std::optional<ServerCertificate>& certificate) {
  if (!certificate) return nullptr;
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate_file(context.get(), certificate->certificate.c_str(),
                                   SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), certificate->key.c_str(), SSL_FILETYPE_PEM) != 1)
    throw std::runtime_error("the server's certificate can't be read");
  return context;
}

void block_broken_pipes() {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

ServedPeer::ServedPeer(Fd socket, SSL_CTX* context, int quit)
    : socket_(std::move(socket)), quit_(quit) {
  if (context == nullptr) return;
  tls_ = SSL_new(context);
  SSL_set_fd(tls_, socket_.get());
  alive_ = SSL_accept(tls_) == 1;
}

ServedPeer::~ServedPeer() {
  if (tls_ == nullptr) return;
  SSL_shutdown(tls_);
  SSL_free(tls_);
}

bool ServedPeer::read(std::string& buffer, int timeout_ms) {
  if (tls_ == nullptr || SSL_pending(tls_) == 0) {
    pollfd waits[] = {{socket_.get(), POLLIN, 0}, {quit_, POLLIN, 0}};
    const int ready = ::poll(waits, 2, timeout_ms);
    if (ready == 0) return true;
    if (ready < 0 || waits[1].revents != 0) return alive_ = false;
  }
  char bytes[65536];
  const auto size = tls_ != nullptr
                        ? SSL_read(tls_, bytes, sizeof bytes)
                        : static_cast<int>(::recv(socket_.get(), bytes, sizeof bytes, 0));
  if (size <= 0) return alive_ = false;
  buffer.append(bytes, static_cast<std::size_t>(size));
  return true;
}

void ServedPeer::write(std::string_view bytes) {
  while (alive_ && !bytes.empty()) {
    pollfd waits[] = {{socket_.get(), POLLOUT, 0}, {quit_, POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 || waits[1].revents != 0) alive_ = false;
    if (!alive_) return;
    const int chunk = static_cast<int>(std::min<std::size_t>(bytes.size(), 1u << 16));
    const auto size =
        tls_ != nullptr
            ? SSL_write(tls_, bytes.data(), chunk)
            : static_cast<int>(::send(socket_.get(), bytes.data(), static_cast<std::size_t>(chunk),
                                      MSG_NOSIGNAL | MSG_DONTWAIT));
    if (size < 0 && tls_ == nullptr && errno == EAGAIN) continue;
    if (size <= 0) alive_ = false;
    if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

std::optional<ReceivedRequest> read_request(ServedPeer& peer, std::string& buffer) {
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

}  // namespace sortie::test
