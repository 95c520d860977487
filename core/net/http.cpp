#include "core/net/http.h"

#include <strings.h>

namespace sortie {

std::string_view header_value(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key.size() == name.size() && ::strncasecmp(key.data(), name.data(), name.size()) == 0)
      return value;
  return {};
}

}  // namespace sortie
