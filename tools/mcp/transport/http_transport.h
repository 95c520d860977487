#pragma once

#include <memory>

#include "tools/mcp/transport/http_exchange.h"
#include "tools/mcp/transport/http_session.h"
#include "tools/mcp/transport/transport.h"

namespace sortie::mcp {

struct HttpTransportLimits {
  HttpExchangeLimits exchange{};
  std::size_t waiting = 1000;             ///< messages that wait for their delivery
  std::size_t waiting_bytes = 64u << 20;  ///< and what they are together
  std::size_t open_requests = 64;         ///< requests whose reply has not come
};

/// Streamable HTTP, as of protocol version 2025-03-26 and later: each message is a POST, whose
/// response is the reply, or an event stream that ends with it; what the server says unasked comes
/// on a stream of its own, where it offers one.
///
/// A request runs in a thread of its own until its reply is there. Everything else goes out in its
/// order, one by one, and a request goes out behind what was sent before it.
///
/// A session that the server knows no more closes the transport: begin a new one.
class HttpTransport : public Transport {
 public:
  /// @param make_http  what sends one request at a time; there is one for each at the same time.
  ///                   It must not follow a redirect to another origin: the token would go along
  HttpTransport(HttpServer server, MakeHttp make_http, const HttpTransportLimits& limits = {});
  ~HttpTransport() override;
  void open(Receiver& receiver, Deadline deadline, std::stop_token stop) override;
  void send(const Message& message) override;
  void agree(const std::string& protocol_version) override;
  void abandon(const Json& id) override;
  void close(Deadline deadline) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::mcp
