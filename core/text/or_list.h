#pragma once

#include <string>
#include <vector>

namespace sortie {

/// "a, b or c": what was expected, for an error.
std::string or_list(const std::vector<std::string>& names);

}  // namespace sortie
