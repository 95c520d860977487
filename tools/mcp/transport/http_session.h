#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/http.h"
#include "tools/mcp/transport/http_reply.h"

namespace sortie::mcp {

/// A server that is reached over streamable HTTP.
struct HttpServer {
  Url url{};                   ///< its path is the whole target, query included
  std::string bearer_token{};  ///< "" for none; only sent to this origin
};

/// Reads the address of a server: https, or http to loopback; path and query stay unchanged.
/// @throws InputError
Url parse_server_url(std::string_view text);

/// Whether a foreign value may be sent as a header value: visible ASCII only.
bool is_visible_ascii(std::string_view text);

using MakeHttp = std::function<std::unique_ptr<Http>()>;

/// The common headers of the requests to one server, and the connections to it. Thread-safe.
class HttpSession {
 public:
  HttpSession(HttpServer server, MakeHttp make_http);

  /// Sets the session id from the answer to `initialize`; "" for none.
  /// @return  false, with nothing set, if it can't be sent back as a header
  bool begin(const std::string& session_id);
  /// Sets the protocol version to send as a header from now on.
  void agree(const std::string& protocol_version);
  bool has_id() const;
  bool has_token() const noexcept { return !server_.bearer_token.empty(); }
  /// Whether the token is valid in a header.
  bool can_be_sent() const;
  /// "https://host/mcp" without the query, which may contain a key.
  std::string name() const;

  /// Sends a message to the server.
  HttpResult post(std::string_view message, bool repeatable, const HttpLimits& limits,
                  HttpReply& reply, std::stop_token stop);
  /// Opens an event stream, or resumes one after that event.
  HttpResult get(const std::string& last_event_id, const HttpLimits& limits, HttpReply& reply,
                 std::stop_token stop);
  /// Ends the session.
  HttpResult remove(const HttpLimits& limits, HttpReply& reply, std::stop_token stop);

 private:
  HttpResult send(HttpRequest request, const HttpLimits& limits, HttpReply& reply,
                  std::stop_token stop);
  HttpHeaders common_headers() const;

  const HttpServer server_;
  const MakeHttp make_http_;
  mutable std::mutex mutex_;
  std::string id_;
  std::string version_;
  std::vector<std::unique_ptr<Http>> idle_;  ///< each keeps its connection open
};

}  // namespace sortie::mcp
