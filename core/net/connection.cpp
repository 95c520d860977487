#include "core/net/connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/net/http_reader.h"
#include "core/net/resolver.h"
#include "core/net/trusted_certificates.h"
#include "core/text/text.h"

namespace sortie {
struct Connection::Socket {
  Fd plain;
  TlsSession secure;  ///< over `plain`; nothing for http
};

namespace {

/// The oldest error of OpenSSL's queue, in its words.
std::string tls_error() {
  char text[256] = "unknown error";
  if (const unsigned long code = ::ERR_get_error()) ::ERR_error_string_n(code, text, sizeof text);
  return one_line(text);
}

/// Requires the certificate of the handshake to be this host's, and sends a name to the server (SNI,
/// RFC 6066 §3, which does not cover addresses).
void expect_host(SSL& session, const std::string& host) {
  unsigned char address[sizeof(in6_addr)];
  const bool numeric = ::inet_pton(AF_INET, host.c_str(), address) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), address) == 1;
  X509_VERIFY_PARAM* rules = ::SSL_get0_param(&session);
  ::X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool set = numeric ? ::X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1
                           : ::X509_VERIFY_PARAM_set1_host(rules, host.data(), host.size()) == 1 &&
                                 SSL_set_tlsext_host_name(&session, host.c_str()) == 1;
  if (!set) throw Error("TLS: cannot check certificates for host '" + host + "'");
}

using Clock = std::chrono::steady_clock;

/// Waits until the socket is connected. False at the time given, when the watchdog has fired, or
/// when the connection is refused; `problem` says which.
bool finish_connect(int descriptor, Clock::time_point until, int alarm, std::string& problem) {
  pollfd waits[] = {{descriptor, POLLOUT, 0}, {alarm, POLLIN, 0}};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    const int wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    const int ready = ::poll(waits, 2, until == Clock::time_point::max() ? -1 : wait);
    if (ready < 0 && errno == EINTR) continue;
    problem = "no answer to the connection";
    if (ready <= 0 || waits[1].revents != 0) return false;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    problem = errno_text(error);
    return error == 0;
  }
}

/// A connected, blocking socket to the host; tries its addresses in turn, each with its share of
/// the time.
Fd connect_to(const std::string& host, std::uint16_t port, Watchdog& watchdog) {
  std::string problem;
  const auto addresses = resolve(host, port, watchdog.alarm(), problem);
  if (addresses.empty())
    throw ConnectError(problem.empty() ? "the name of host '" + host + "' was not found in time"
                                       : problem);
  std::size_t left = addresses.size();
  for (const NetAddress& address : addresses) {
    const auto now = Clock::now();
    // The last address has all the time there is: the watchdog ends it.
    const auto share = (watchdog.limit() - now) / static_cast<std::int64_t>(left);
    const auto until = left-- == 1 ? Clock::time_point::max() : now + share;
    Fd socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      problem = errno_text(errno);
      continue;
    }
    const int status =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size);
    if (status != 0 && errno != EINPROGRESS) {
      problem = errno_text(errno);
      continue;
    }
    if (status != 0 && !finish_connect(socket.get(), until, watchdog.alarm(), problem)) {
      if (watchdog.fired()) break;
      continue;
    }
    const int flags = ::fcntl(socket.get(), F_GETFL);
    ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return socket;
  }
  throw ConnectError("cannot connect to " + host + " port " + std::to_string(port) + ": " +
                     problem);
}

/// CONNECT host:port (RFC 9110 §9.3.6). Read byte by byte: what follows the head is the server's.
void open_tunnel(int descriptor, const Url& url, const Proxy& proxy) {
  const std::string name =
      url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  const std::string place = name + ":" + std::to_string(url.port);
  std::string request = "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n";
  if (!proxy.authorization.empty())
    request += "Proxy-Authorization: " + proxy.authorization + "\r\n";
  request += "\r\n";
  for (std::string_view rest = request; !rest.empty();) {
    const ssize_t sent = ::send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw ConnectError("the proxy " + proxy.host + " closed the connection");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  HttpReader reader(64u << 10);
  while (reader.state() == HttpReader::State::head) {
    char byte = 0;
    const ssize_t size = ::recv(descriptor, &byte, 1, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw ConnectError("the proxy " + proxy.host + " closed the connection");
    std::string_view bytes(&byte, 1);
    reader.next(bytes);
  }
  const int status = reader.head().status;
  if (status == 407)
    throw ProxyCredentialsError(
        "the proxy " + proxy.host +
        (proxy.authorization.empty()
             ? " asks for credentials (status 407); put USER, a colon, PASSWORD and an @ before the "
               "host in " +
                   proxy.variable
             : " does not take the credentials of " + proxy.variable + " (status 407)"));
  if (reader.state() == HttpReader::State::broken || status < 200 || status > 299)
    throw ConnectError("the proxy " + proxy.host + " refused a connection to " + place +
                       " with status " + std::to_string(status));
}

/// Waits until the socket takes bytes; false where it brings some before.
bool can_send(int descriptor) {
  for (;;) {
    pollfd wait{descriptor, POLLIN | POLLOUT, 0};
    if (::poll(&wait, 1, -1) < 0 && errno == EINTR) continue;
    return (wait.revents & (POLLOUT | POLLERR | POLLHUP)) != 0;
  }
}

/// One read or write, again when a signal came in between; 0 or less at the end.
template <typename Step>
int tls_transfer(SSL* session, Step step) {
  for (;;) {
    ::ERR_clear_error();  // what is left of another call would be taken for this one's
    const int count = step();
    if (count > 0) return count;
    const int why = ::SSL_get_error(session, count);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return 0;
  }
}

}  // namespace

Tls::Tls(TrustedCertificates certificates) : certificates_(std::move(certificates)) {}
Tls::~Tls() = default;

Tls::State& Tls::state() {
  if (state_) return *state_;
  if (certificates_.file.empty() && certificates_.folder.empty())
    certificates_ = own_trusted_certificates();
  State made{decltype(State::context)(::SSL_CTX_new(::TLS_client_method()))};
  SSL_CTX* const context = made.context.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      ::SSL_CTX_set_cipher_list(context, "HIGH:!aNULL:!eNULL:!MD5:!RC4:!3DES") != 1)
    throw Error("TLS can't be set up: " + tls_error(), ExitCode::environment);
  // OpenSSL checks chain and name inside the handshake, before a byte of ours goes out.
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_verify_depth(context, 9);
  const auto name = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  if (::SSL_CTX_load_verify_locations(context, name(certificates_.file),
                                      name(certificates_.folder)) != 1)
    throw Error("cannot read trusted certificates from '" +
                    (certificates_.file.empty() ? certificates_.folder : certificates_.file) + "'",
                ExitCode::environment);
  state_ = std::make_unique<State>(std::move(made));
  return *state_;
}

TlsSession Tls::State::shake_hands(int descriptor, const std::string& host) const {
  TlsSession session(::SSL_new(context.get()));
  if (!session || ::SSL_set_fd(session.get(), descriptor) != 1)
    throw ConnectError("TLS with " + host + ": " + tls_error());
  expect_host(*session, host);
  ::ERR_clear_error();
  const int result = ::SSL_connect(session.get());
  if (result == 1) return session;
  // Why the chain was refused is not in the queue of errors, which names the step alone.
  const long refused = ::SSL_get_verify_result(session.get());
  std::string cause = "the server ended the handshake";
  if (refused != X509_V_OK)
    cause = std::string(kCertificateRefused) + ::X509_verify_cert_error_string(refused);
  else if (::ERR_peek_error() != 0)
    cause = tls_error();
  throw ConnectError("TLS with " + host + ": " + cause);
}

Connection::Connection(const Url& url, const std::optional<Proxy>& proxy, Tls& tls,
                       Watchdog& watchdog)
    : origin_(url), socket_(std::make_unique<Socket>()) {
  origin_.path.clear();
  Fd socket = connect_to(proxy ? proxy->host : url.host, proxy ? proxy->port : url.port, watchdog);
  descriptor_ = socket.get();
  socket_->plain = std::move(socket);
  watchdog.watch(descriptor_);
  try {
    if (proxy) open_tunnel(descriptor_, url, *proxy);
    if (url.secure) socket_->secure = tls.state().shake_hands(descriptor_, url.host);
  } catch (...) {
    watchdog.watch(-1);
    throw;
  }
}

Connection::~Connection() {
  // First, so that closing never waits for the peer's part of a TLS farewell.
  if (descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
}

bool Connection::is_stale() const {
  pollfd wait{descriptor_, POLLIN, 0};
  if (::poll(&wait, 1, 0) == 0) return false;
  if (!socket_->secure) return true;
  // TLS's own: tickets follow the handshake (RFC 8446 §4.6.1). They are taken without a wait.
  SSL* const session = socket_->secure.get();
  const int flags = ::fcntl(descriptor_, F_GETFL);
  ::fcntl(descriptor_, F_SETFL, flags | O_NONBLOCK);
  ::ERR_clear_error();
  char byte = 0;
  const int count = ::SSL_peek(session, &byte, 1);
  const bool is_open = count <= 0 && ::SSL_get_error(session, count) == SSL_ERROR_WANT_READ;
  ::fcntl(descriptor_, F_SETFL, flags);
  ::ERR_clear_error();
  return !is_open;
}

bool Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const int sent = send_some(bytes.substr(0, 1u << 20));
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

int Connection::send_some(std::string_view bytes) {
  if (socket_->secure) {
    SSL* const session = socket_->secure.get();
    const int size = static_cast<int>(bytes.size());
    return tls_transfer(session, [&] { return ::SSL_write(session, bytes.data(), size); });
  }
  // A server that answers at once and reads no further would leave both sides waiting. Under TLS
  // bytes to read may be the protocol's own: there the watchdog has to end it.
  for (;;) {
    if (!can_send(descriptor_)) return 0;
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<int>(sent);
    if (errno != EINTR && errno != EAGAIN) return 0;
  }
}

std::size_t Connection::receive(char* buffer, std::size_t size) {
  if (socket_->secure) {
    SSL* const session = socket_->secure.get();
    const int wanted = static_cast<int>(size);
    const int count = tls_transfer(session, [&] { return ::SSL_read(session, buffer, wanted); });
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  for (;;) {
    const ssize_t count = ::recv(descriptor_, buffer, size, 0);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return 0;
  }
}

}  // namespace sortie
