#pragma once

#include <string>

#include "app/init/first_model.h"
#include "app/init/toolchain.h"

namespace sortie {

/// The text of .sortie/task.yaml for a project.
std::string first_task(const Toolchain& toolchain, const FirstModel& model);

/// The text of .sortie/policy.yaml for a project.
/// @param ci_folder  the folder of the CI system's scripts, which is protected too; "" for none
std::string first_policy(const Toolchain& toolchain, const FirstModel& model,
                         const std::string& ci_folder);

/// The text of a .gitignore that leaves output folders out.
/// @param found  its text now; "" if there is none
/// @return       `found` where that is done already
std::string with_ignored_output(const std::string& found);

/// A YAML scalar: as it is where that is one string, else in double quotes.
std::string yaml_text(const std::string& text);

}  // namespace sortie
