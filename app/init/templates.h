#pragma once

#include <string>

namespace sortie {

/// A file of this repository that `sortie init` writes, as it is there.
/// @param name  of ci/github ("action.yml", "workflows/change.yml") or of app/init/templates
std::string init_template(const std::string& name);

}  // namespace sortie
