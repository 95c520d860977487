#pragma once

#include <string>
#include <vector>

namespace sortie {

/// What `sortie schema` prints a schema of.
std::vector<std::string> schema_names();

}  // namespace sortie
