#pragma once

#include <map>
#include <string>

namespace sortie {

/// A file of ci/ that `sortie init` writes, as it is there.
/// @param name  "github/action.yml", "jenkins/Jenkinsfile"
std::string init_template(const std::string& name);

/// The files of samples/python-tool, which `sortie init --demo` writes: "project/tally/cli.py" and its text.
std::map<std::string, std::string> demo_texts();

}  // namespace sortie
