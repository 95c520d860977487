#pragma once

#include <memory>

#include "core/net/http.h"
#include "core/net/proxy.h"

namespace sortie {

/// HTTP and HTTPS on Poco's sockets. A connection is kept for the next request to the same place;
/// one that the server closed meanwhile is replaced once, unseen. TLS is 1.2 or later and always
/// verified. Starts no thread before the first request.
class PocoHttp : public Http {
 public:
  explicit PocoHttp(TrustedCertificates certificates = {}, ProxySettings proxy = {});
  ~PocoHttp() override;
  HttpResult send(const HttpRequest& request, const HttpLimits& limits, HttpSink& sink,
                  std::stop_token stop) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
