#include "core/git/other_coding.h"

namespace sortie {

std::optional<std::string> converted(const std::string& /*to*/, const std::string& /*from*/,
                                     std::string_view /*bytes*/) {
  return std::nullopt;
}

}  // namespace sortie
