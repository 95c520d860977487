#include "tools/mcp/transport/http_server.h"

#include <algorithm>

#include "core/base/error.h"

namespace sortie::mcp {

Url parse_server_url(std::string_view text) {
  const std::size_t mark = text.find('?');
  const std::string_view place = text.substr(0, mark);
  const std::string_view query = mark == std::string_view::npos ? "" : text.substr(mark);
  if (!is_visible_ascii(query) && !query.empty())
    throw InputError("address: its query has blanks, control or non-ASCII characters");
  if (query.find('#') != std::string_view::npos)
    throw InputError("address: a fragment is not allowed");
  Url url = parse_url(place);
  if (!url.secure && !url.is_loopback())
    throw InputError("address '" + url.text() +
                     "': plain http is for loopback hosts only; use https://");
  // To a server, /mcp and /mcp/ may be two places.
  if (place.ends_with('/')) url.path += '/';
  if (!query.empty() && url.path.empty()) url.path = "/";
  url.path += query;
  return url;
}

bool is_visible_ascii(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace sortie::mcp
