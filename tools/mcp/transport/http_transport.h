#pragma once

#include <memory>

#include "tools/mcp/transport/http_exchange.h"
#include "tools/mcp/transport/http_session.h"
#include "tools/mcp/transport/transport.h"

namespace sortie::mcp {

struct HttpTransportLimits {
  HttpExchangeLimits exchange{};
  std::size_t waiting = 1000;             ///< queued messages
  std::size_t waiting_bytes = 64u << 20;  ///< their total size
  std::size_t open_requests = 64;         ///< requests without a reply
};

/// Streamable HTTP, protocol version 2025-03-26 and later: each message is a POST, whose response
/// is the reply or an event stream that ends with it. The server's own messages arrive on a
/// separate stream, if it offers one.
///
/// Each request runs in its own thread until its reply has arrived. Other messages are sent one by
/// one in order, and a request after all messages before it.
///
/// When the server forgets the session, the transport closes: begin a new one.
class HttpTransport : public Transport {
 public:
  /// @param make_http  makes a client for one request at a time. It must not follow redirects to
  ///                   another origin, which would get the token
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
