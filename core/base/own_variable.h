#pragma once

#include <cstdlib>
#include <string>

namespace sortie {

/// The value of a variable of this process's environment; "" if it is not set.
inline std::string own_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace sortie
