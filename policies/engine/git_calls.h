#pragma once

#include <span>
#include <string>

namespace sortie {

/// Whether a command is git, or a shell string in which some word could be: it then runs in the
/// environment that holds git to the one repository. Errs towards yes.
bool may_run_git(std::span<const std::string> argv);

}  // namespace sortie
