#pragma once

#include <filesystem>

#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// Mounts over the workspace, which stands below the current folder at its own path, what the
/// policy protects, hides and covers. Sets the view's placeholders and notes.
/// @param scratch  a private folder of the view's builder, for the empty folder and file
/// @throws Error  with the path
void cover_paths(const SandboxProfile& profile, const std::filesystem::path& scratch, View& view);

}  // namespace sortie
