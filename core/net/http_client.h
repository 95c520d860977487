#pragma once

#include <chrono>
#include <memory>

#include "core/net/http.h"
#include "core/net/proxy.h"

namespace sortie {

/// Lets OpenSSL look up its algorithms and begin a handshake with nobody, so that the first connection over
/// TLS takes 2 ms less. Starts no thread and reports nothing. Like the first use of OpenSSL, it reads
/// openssl.cnf in a program with OpenSSL's shared libraries.
void prepare_tls() noexcept;

/// HTTP and HTTPS over plain sockets and OpenSSL. A connection is kept for the next request to the
/// same place; one that the server closed meanwhile is replaced once, unseen. TLS is 1.2 or later
/// and always verified. Starts no thread before the first request.
///
/// Poco's client is not used: its reader takes no header field beyond 8 KiB, and reports a chunked
/// body that breaks off as complete.
class HttpClient : public Http {
 public:
  explicit HttpClient(TrustedCertificates certificates = {}, ProxySettings proxy = {});
  ~HttpClient() override;

  /// Connects for the first request to this place, on a thread, while the caller does something else.
  /// Nothing is sent but TLS's handshake, or the proxy's. That it failed is the result of that
  /// request. Called at most once, before send().
  void connect_early(const Url& url, std::chrono::milliseconds limit);
  HttpResult send(const HttpRequest& request, const HttpLimits& limits, HttpSink& sink,
                  std::stop_token stop) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
