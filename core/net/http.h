#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/host/url.h"
#include "core/http1/message_head.h"

namespace sortie {

/// Where the certificates of trusted authorities are; both "": the system's.
struct TrustedCertificates {
  std::string file{};    ///< SSL_CERT_FILE
  std::string folder{};  ///< SSL_CERT_DIR, with hash links (openssl-rehash(1))
};

struct HttpLimits {
  std::chrono::milliseconds connect{10000};  ///< name, connection and TLS together
  /// From there until the sink has begun: to the whole response head at least.
  std::chrono::milliseconds first_byte{120000};
  std::chrono::milliseconds idle{300000};   ///< between two pieces of the body
  std::chrono::milliseconds total{900000};  ///< the whole exchange, redirects included
  std::size_t head_bytes = 256u << 10;
};

/// `body` is borrowed for the exchange. Host, Content-Length, Connection and Accept-Encoding are
/// the client's to set.
struct HttpRequest {
  std::string method = "POST";
  Url url{};  ///< path: the whole target, query included
  HttpHeaders headers{};
  std::string_view body{};
  /// Whether it may go out twice: over a connection that was kept, and once more where the server
  /// closes that without an answer. Otherwise it goes over a connection of its own, once.
  bool repeatable = true;
};

struct HttpHead {
  int status = 0;
  HttpHeaders headers{};
};

/// Takes a response as it comes.
class HttpSink {
 public:
  enum class Wants { more, enough };
  virtual ~HttpSink() = default;
  /// Once, with the head of the final response (no 1xx, no redirect that was followed).
  virtual void on_head(const HttpHead& head) = 0;
  /// Whether the answer itself has begun: until then `first_byte` limits the wait.
  virtual bool has_begun() const { return true; }
  /// Whether all that counts has arrived: what may follow is waited for only for kLastWords.
  virtual bool may_end() const { return false; }
  /// A piece of the body, as soon as it is there. `enough` ends the exchange as complete.
  virtual Wants on_body(std::string_view bytes) = 0;
};

/// How long a body may go on, or be silent, that its sink could do without.
inline constexpr std::chrono::milliseconds kLastWords{2000};

/// How an exchange ended; never an exception.
struct HttpResult {
  enum class Ending {
    complete,       ///< the whole body arrived, or the sink had enough
    no_connection,  ///< name, connection, proxy or TLS; no byte of the request went out
    cut,            ///< the connection ended before the response did
    malformed,      ///< not HTTP, or its head is too long
    connect_timeout,
    first_byte_timeout,
    idle_timeout,
    total_timeout,
    proxy_credentials,  ///< the proxy asks for credentials, or rejects those it got
    redirect_refused,   ///< to another host, or one too many; `detail` names the place
    stopped,            ///< on a stop request
  };
  Ending ending = Ending::complete;
  std::string detail{};  ///< for people
};

/// In `HttpResult::detail` where the server's certificate is why there is no connection; OpenSSL's cause
/// follows.
inline constexpr std::string_view kCertificateRefused = "certificate refused: ";

/// Sends requests over HTTP/1.1.
class Http {
 public:
  virtual ~Http() = default;
  /// Never takes longer than the limits, returns within moments of a stop request, and hands on
  /// each byte as soon as it has arrived. Exceptions of the sink pass through.
  virtual HttpResult send(const HttpRequest& request, const HttpLimits& limits, HttpSink& sink,
                          std::stop_token stop) = 0;
};

}  // namespace sortie
