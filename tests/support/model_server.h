#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/net/http.h"

namespace sortie::test {

/// What the server does with one request.
struct ServedResponse {
  enum class Then {
    keep,   ///< waits for the next request on the connection
    close,  ///< closes it
    hang,   ///< says nothing more until the client closes
    drip,   ///< sends `drip` again and again until the client closes
  };
  std::string bytes{};  ///< as they go out, head included
  Then then = Then::keep;
  std::string drip{};
  std::chrono::milliseconds every{5};
  std::size_t piece = 0;  ///< send at most this many bytes at once; 0: all
  /// Called before anything is sent. LoopbackHttp goes on with other connections meanwhile.
  std::function<void()> before{};
};

/// A stream as a model's server sends it.
ServedResponse served_stream(const std::string& sse, bool chunked = true);
ServedResponse served_status(int status, const HttpHeaders& headers, const std::string& body);

struct ReceivedRequest {
  std::string line{};  ///< "POST /v1/responses HTTP/1.1"
  HttpHeaders headers{};
  std::string body{};
  int connection = 0;  ///< counted from 1
};

/// A certificate and its key in PEM files.
struct ServerCertificate {
  std::string certificate{};
  std::string key{};
};

/// A real server on loopback, in a thread of its own; one connection at a time. It answers the
/// requests with the responses given, in their order, and with status 500 after them.
///
/// As a provider's server would, it has every request checked whose path names a wire format
/// (request_check.h): when it goes, each one that is wrong fails the test case.
class ModelServer {
 public:
  explicit ModelServer(std::vector<ServedResponse> responses,
                       std::optional<ServerCertificate> certificate = {});
  ModelServer(const ModelServer&) = delete;
  ~ModelServer();

  int port() const;
  /// "http://127.0.0.1:PORT" or "https://…".
  std::string url(const std::string& host = "127.0.0.1") const;
  std::vector<ReceivedRequest> requests() const;
  int connections() const;

  /// Requests may be anything: for tests of what carries them.
  void take_any_request() noexcept { checks_ = false; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool checks_ = true;
};

}  // namespace sortie::test
