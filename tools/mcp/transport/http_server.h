#pragma once

#include <string>
#include <string_view>

#include "core/net/http.h"

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

}  // namespace sortie::mcp
