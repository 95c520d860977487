#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/net/http.h"

namespace sortie::mcp {

/// A server that is reached over streamable HTTP.
struct HttpServer {
  Url url{};                   ///< path: the whole target, query included
  std::string bearer_token{};  ///< "" for none; goes to this origin alone
  HttpHeaders headers{};       ///< of every request, beside our own
};

/// Reads the address of a server: https, or http to loopback; a path and a query as they stand.
/// @throws InputError
Url parse_server_url(std::string_view text);

/// Headers that a task wants sent.
/// @throws InputError  for a name that is none, or that is ours to set; for a value that is none
HttpHeaders server_headers(const std::map<std::string, std::string>& headers);

/// Whether a value that somebody else gave us may go out as a header's value: visible ASCII.
bool is_visible_ascii(std::string_view text);

}  // namespace sortie::mcp
