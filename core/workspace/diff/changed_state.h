#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// All that a run has changed so far and that git would keep, by path, each with a word that is
/// another one for another content: what a verification judges, beside the start.
using ChangedState = std::map<std::string, std::string>;

/// Ignored paths are left out, and those that `may_change` matches (git's own patterns).
/// @param include  ignored paths that are of interest all the same, as in DiffOptions
/// @throws Error
ChangedState changed_state(const Workspace& workspace, const Files& view,
                           const std::filesystem::path& root,
                           const std::vector<std::string>& include,
                           const std::vector<std::string>& may_change,
                           const CancelCheck& pace = {});

/// The paths whose content differs, sorted.
std::vector<std::string> differing_paths(const ChangedState& one, const ChangedState& other);

}  // namespace sortie
