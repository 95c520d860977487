#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// A tree that the commands of one private set see in place of the run's.
struct SetTree {
  enum class Kind {
    overlay,  ///< on the user's own tree, with FOLDER/upper and FOLDER/work
    copy,     ///< FOLDER/tree
  };
  std::string set;     ///< Command::private_set
  std::string folder;  ///< FOLDER: its name beside the run's own upper folder or copy
  Kind kind = Kind::overlay;
  /// Folders of the run's tree, relative to it, that this one shows too: overlays with
  /// FOLDER/keep-0/upper and FOLDER/keep-0/work, FOLDER/keep-1/… The set's writes stay there.
  std::vector<std::string> keep{};
};

/// Its parts, mounted nowhere yet.
struct SetTreeMounts {
  Fd tree;
  std::vector<std::pair<std::string, Fd>> kept;
};

/// Makes the parts, in the keeper's own mount namespace, where the layers are.
/// @throws Error
SetTreeMounts open_set_tree(const SetTree& tree, const View& view);

/// Mounts it over the run's tree, with all masks that this has: protected, hidden and covered paths
/// as they were at the start, git's files without credentials. Places of the view inside the
/// workspace stay.
///
/// Call it in the set's mount namespace, before any command uses it.
/// @param scratch  a folder of the set's own, for the masks' sources
/// @return  the tree's root without masks, for sortie's own writes
/// @throws Error
Fd mount_set_tree(const SetTreeMounts& mounts, const SandboxProfile& profile, const View& view,
                  const std::filesystem::path& scratch);

}  // namespace sortie
