#pragma once

#include <filesystem>

#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// Mounts over the workspace what the policy protects, hides and covers. The workspace stands below
/// the current folder, at its own path. Sets the view's placeholders and notes.
/// @param scratch  a private folder of the view's builder, for the empty folder and file
/// @throws Error  with the path
void lay_path_masks(const SandboxProfile& profile, const std::filesystem::path& scratch,
                    View& view);

/// Mounts the files over those of the view that is being built in the current folder, read-only.
/// @param scratch  a private folder of the view's builder, where their contents are put
/// @throws Error  with the path
void lay_git_files(const GitView& git, const std::filesystem::path& scratch);

}  // namespace sortie
