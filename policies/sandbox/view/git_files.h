#pragma once

#include <filesystem>

#include "policies/sandbox/git_view.h"

namespace sortie {

/// Mounts the files over those of the view that is being built in the current folder, read-only.
/// @param scratch  a private folder of the view's builder, where their contents are put
/// @throws Error  with the path
void lay_git_files(const GitView& git, const std::filesystem::path& scratch);

}  // namespace sortie
