#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace that is a copy of the user's tree in the state folder, bind-mounted over the tree's
/// path if the keeper can mount. Permissions, links, holes and times are kept, hard links are not;
/// pipes, sockets and devices are left out. Changes are found with a manifest of the copy.
///
/// Copies the tree, or reuses the complete copy of an earlier run in options.state.
/// @throws Error  ExitCode::environment: tree too large, unreadable file, disk full
std::unique_ptr<Workspace> make_copy(const WorkspaceOptions& options, std::string reason);

/// A second copy of the user's tree, made at `to`, over the same start as a run's, which is a copy.
/// It may be moved. @throws Error  as make_copy()
std::unique_ptr<Workspace> make_copy_beside(const Workspace& run, const std::filesystem::path& to);

/// Puts another tree in the place of a run's copy, by renaming, and back at the end. make_copy()
/// undoes what a killed run left of it.
class SwappedTree {
 public:
  /// @throws Error  ExitCode::environment; nothing is moved then
  SwappedTree(std::filesystem::path tree, std::filesystem::path other);
  SwappedTree(const SwappedTree&) = delete;
  SwappedTree& operator=(const SwappedTree&) = delete;
  ~SwappedTree();
  /// Where the run's copy is meanwhile.
  static std::filesystem::path aside(const std::filesystem::path& tree) {
    return tree.native() + ".run";
  }

 private:
  std::filesystem::path tree_;
  std::filesystem::path other_;
};

}  // namespace sortie
