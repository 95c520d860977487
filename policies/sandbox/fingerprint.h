#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sortie {

/// Tells whether two values are equal without either being handed over: of use between this
/// program's own processes only, with a salt that is made up for the occasion. No cryptographic
/// digest, since setting one up would take most of the canary's time.
inline std::string fingerprint(const std::string& salt, std::string_view value) {
  std::string salted = salt;
  salted += value;
  return std::to_string(std::hash<std::string>{}(salted)) + "-" +
         std::to_string(std::hash<std::string>{}(salted + salt));
}

}  // namespace sortie
