#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/host/host.h"
#include "core/http1/message_head.h"

namespace sortie {

/// A request to a proxy, read from its head.
struct ProxyRequest {
  enum class Form {
    tunnel,    ///< CONNECT host:port
    absolute,  ///< GET http://host/path
  };
  Form form = Form::tunnel;
  std::string method;
  Authority place;
  std::string target{};  ///< for Form::absolute: "/path?query", or "*"
  HttpHeaders fields{};  ///< to pass on: without Host and hop-by-hop fields
  BodyFraming body{};
  bool old_version = false;  ///< HTTP/1.0: without chunks and interim responses
  bool keep_alive = true;    ///< the client wants to send another one
};

/// Why a request is not served.
struct RequestRefusal {
  int status = 400;
  std::string reason;
};

/// The longest head of a request that is read.
inline constexpr std::size_t kLongestRequestHead = 16 << 10;

/// Reads a request's head, strictly (RFC 9110, 9112):
///
///     CONNECT host:port HTTP/1.1         METHOD http://host[:port][/path][?query] HTTP/1.1
///     Name: value …                      Name: value …
///
/// The target's host decides, and is read once; a Host field is not used, and may be given at most
/// once. What two programs could read differently is refused.
///
/// @param head  up to and with the empty line, as find_head_end() found it
std::variant<ProxyRequest, RequestRefusal> read_proxy_request(std::string_view head);

/// The head that goes to the server: origin form, a Host field made from the target, new framing for
/// the body, and a connection for this one request.
std::string forwarded_head(const ProxyRequest& request);
/// The same for an upstream proxy: absolute form.
/// @param authorization  the value of Proxy-Authorization, or ""
std::string forwarded_head_to_proxy(const ProxyRequest& request, std::string_view authorization);

/// A server's response to a forwarded request, read from its head.
struct ServerResponse {
  int status = 0;
  std::string reason;    ///< phrase, may be empty
  HttpHeaders fields{};  ///< to pass on
  BodyFraming body{};

  bool is_interim() const noexcept { return status < 200; }
};

/// The longest head of a response that is read.
inline constexpr std::size_t kLongestResponseHead = 64 << 10;

/// Reads a response's head as strictly as a request's.
/// @param method  the request's: a response to HEAD has no body
/// @return  the response, or why it is not passed on
std::variant<ServerResponse, std::string> read_server_response(std::string_view head,
                                                               std::string_view method);

/// The head that goes to the client.
/// @param framing     how the body goes to the client
/// @param keep_alive  whether the client may send another request
std::string returned_head(const ServerResponse& response, const BodyFraming& framing,
                          bool keep_alive);

}  // namespace sortie
