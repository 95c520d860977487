#pragma once

#include <string>

namespace sortie {

/// A file of ci/ that `sortie init` writes, as it is there.
/// @param name  "github/action.yml", "jenkins/Jenkinsfile"
std::string init_template(const std::string& name);

}  // namespace sortie
