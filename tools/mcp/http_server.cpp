#include "tools/mcp/http_server.h"

#include <strings.h>

#include <algorithm>

#include "core/base/error.h"

namespace sortie::mcp {
namespace {

/// They carry a credential, frame the request, or belong to the protocol.
constexpr const char* kOurs[] = {"Authorization",
                                 "Proxy-Authorization",
                                 "Cookie",
                                 "api-key",
                                 "x-api-key",
                                 "Host",
                                 "Connection",
                                 "Content-Length",
                                 "Content-Type",
                                 "Transfer-Encoding",
                                 "Upgrade",
                                 "TE",
                                 "Trailer",
                                 "Expect",
                                 "Accept",
                                 "Accept-Encoding",
                                 "User-Agent",
                                 "Mcp-Session-Id",
                                 "MCP-Protocol-Version",
                                 "Last-Event-ID"};

bool is_ours(const std::string& name) {
  return std::any_of(std::begin(kOurs), std::end(kOurs),
                     [&name](const char* ours) { return ::strcasecmp(ours, name.c_str()) == 0; });
}

}  // namespace

Url parse_server_url(std::string_view text) {
  const std::size_t mark = text.find('?');
  const std::string_view place = text.substr(0, mark);
  const std::string_view query = mark == std::string_view::npos ? "" : text.substr(mark);
  if (!is_visible_ascii(query) && !query.empty())
    throw InputError("address: its query has blanks, control or non-ASCII characters");
  if (query.find('#') != std::string_view::npos)
    throw InputError("address: a fragment is not allowed");
  Url url = parse_url(place);
  if (!url.secure && !is_loopback_host(url.host))
    throw InputError("address '" + url.text() +
                     "': plain http is for loopback hosts only; use https://");
  // To a server, /mcp and /mcp/ may be two places.
  if (place.ends_with('/')) url.path += '/';
  if (!query.empty() && url.path.empty()) url.path = "/";
  url.path += query;
  return url;
}

HttpHeaders server_headers(const std::map<std::string, std::string>& headers) {
  HttpHeaders result;
  for (const auto& [name, value] : headers) {
    if (!is_header_name(name)) throw InputError("'" + name + "' is no header name");
    if (is_ours(name))
      throw InputError("the header '" + name + "' is set by sortie itself" +
                       (::strcasecmp(name.c_str(), "Authorization") == 0
                            ? "; bearer_token_env names the variable of a token"
                            : ""));
    if (!is_header_value(value))
      throw InputError("the value of header '" + name + "' has control characters");
    result.emplace_back(name, value);
  }
  return result;
}

bool is_visible_ascii(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace sortie::mcp
