#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/model_server.h"

namespace sortie::test {

/// An HTTP server on loopback, with TLS where it has a certificate, that takes any number of
/// connections at the same time, each in a thread of its own.
class LoopbackHttp {
 public:
  /// Called for one request at a time.
  using Handler = std::function<ServedResponse(const ReceivedRequest&)>;

  explicit LoopbackHttp(Handler handler, const std::optional<ServerCertificate>& certificate = {});
  LoopbackHttp(const LoopbackHttp&) = delete;
  ~LoopbackHttp();

  int port() const;
  /// "http://127.0.0.1:PORT" or "https://…", and the path.
  std::string url(const std::string& path = "/mcp", const std::string& host = "127.0.0.1") const;
  std::vector<ReceivedRequest> requests() const;
  /// The header of each request whose line begins so; "" where it has none.
  std::vector<std::string> headers(const std::string& line, const std::string& name) const;
  /// How many requests there are whose line begins so.
  std::size_t count(const std::string& line) const;
  /// Waits until so many requests came whose line begins so.
  void wait_for(const std::string& line, std::size_t number = 1) const;
  /// Waits until so many connections were closed by the client, or by what the handler said.
  void wait_for_closed(std::size_t number) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::test
