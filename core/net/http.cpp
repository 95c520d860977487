#include "core/net/http.h"

#include <strings.h>

#include <algorithm>
#include <cctype>

namespace sortie {
std::string_view header_value(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key.size() == name.size() && ::strncasecmp(key.data(), name.data(), name.size()) == 0)
      return value;
  return {};
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
}

bool is_header_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

}  // namespace sortie
