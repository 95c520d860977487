#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// All changes of a run so far that git would store, by path, each with a text that identifies the
/// content. Together with the start, this is what a verification checks.
using ChangedState = std::map<std::string, std::string>;

/// Leaves out ignored paths, and those that match `may_change` (git pathspecs).
/// @param include  ignored paths to include all the same, as in DiffOptions
/// @throws Error
ChangedState changed_state(const Workspace& workspace, const Files& view,
                           const std::filesystem::path& root,
                           const std::vector<std::string>& include,
                           const std::vector<std::string>& may_change,
                           const CancelCheck& check_cancel = {});

/// The paths whose content differs, sorted.
std::vector<std::string> differing_paths(const ChangedState& one, const ChangedState& other);

}  // namespace sortie
