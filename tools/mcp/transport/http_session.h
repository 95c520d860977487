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
  Url url{};                   ///< path: the whole target, query included
  std::string bearer_token{};  ///< "" for none; goes to this origin alone
};

/// Reads the address of a server: https, or http to loopback; a path and a query as they stand.
/// @throws InputError
Url parse_server_url(std::string_view text);

/// Whether a value that somebody else gave us may go out as a header's value: visible ASCII.
bool is_visible_ascii(std::string_view text);

using MakeHttp = std::function<std::unique_ptr<Http>()>;

/// What is sent along with every request to one server, and the connections to it. Several threads
/// may send at the same time.
class HttpSession {
 public:
  HttpSession(HttpServer server, MakeHttp make_http);

  /// What the answer to `initialize` names as the session; "" where there is none.
  /// @return  false, and nothing is kept, where it could not be sent back as a header
  bool begin(const std::string& session_id);
  /// The version that goes out as a header from now on.
  void agree(const std::string& protocol_version);
  bool has_id() const;
  bool has_token() const noexcept { return !server_.bearer_token.empty(); }
  /// Whether the token may stand in a header.
  bool can_be_sent() const;
  /// "https://host/mcp" without the query, which may hold a key.
  std::string name() const;

  /// A message to the server.
  HttpResult post(std::string_view message, bool repeatable, const HttpLimits& limits,
                  HttpReply& reply, std::stop_token stop);
  /// Opens an event stream, or takes one up behind that event.
  HttpResult get(const std::string& last_event_id, const HttpLimits& limits, HttpReply& reply,
                 std::stop_token stop);
  /// The session's end.
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
  std::vector<std::unique_ptr<Http>> idle_;  ///< each with the connection that it kept
};

}  // namespace sortie::mcp
