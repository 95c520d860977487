#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// A part of a run's tree with a git state of its own: a submodule whose changes get a diff, or the
/// workspace without those.
struct TreePart {
  std::string submodule;  ///< its path in the workspace; "": the workspace
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<Files> view;
  std::filesystem::path root;  ///< in the user's own tree

  /// "libs/a/"; "" for the workspace.
  std::string within() const { return submodule.empty() ? "" : submodule + "/"; }
};

/// Divides a tree at the submodules of Workspace::submodules(): the workspace first, then each of them
/// in which something has changed. A path belongs to the innermost of them. What was made of the
/// submodule itself (a link, a file) is a change of the workspace.
/// @param root  of the user's own tree. All of it outlives the parts
/// @return      empty if the workspace has none: it is its only part
std::vector<TreePart> parts_of(const Workspace& workspace, const Files& view,
                               const std::filesystem::path& root,
                               const CancelCheck& check_cancel = {});

/// The options for a part: paths that patches wrote are those in it.
DiffOptions options_within(const TreePart& part, const DiffOptions& options);

}  // namespace sortie
