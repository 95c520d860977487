#pragma once

#include <string>

#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// Builds the view in the calling process' own, new mount and PID namespaces and makes it the
/// root. Every mount of the machine that is not shown is gone afterwards.
/// @param path_variable  sortie's own PATH: its folders are shown
/// @throws Error  with the step and path; the process is then of no use but to exit
View build_view(const SandboxProfile& profile, const std::string& path_variable,
                UserNamespace user);

/// Unmounts what covers the placeholders and removes them, so that none stays in the tree.
void remove_placeholders(const View& view) noexcept;

}  // namespace sortie
