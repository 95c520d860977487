#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/http1/message_head.h"

namespace sortie {

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
