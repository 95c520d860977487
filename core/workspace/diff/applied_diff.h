#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace sortie {

/// Whether a tree has what a diff of ours leads to, by the blob ids in it.
struct AppliedDiff {
  bool all = false;               ///< each of its paths is as the diff has it
  std::set<std::string> paths{};  ///< that the diff changes, relative to `top`
};

/// @param top   what the paths in the diff are relative to: the toplevel of the repository, or the
///              workspace
/// @param text  changes.diff of a run
AppliedDiff look_for_diff(const std::filesystem::path& top, std::string_view text);

}  // namespace sortie
