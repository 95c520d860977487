#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

/// How the workspace comes into the run's view: a value, nothing is mounted here.
///
/// An overlay is mounted with `redirect_dir=nofollow,metacopy=off,index=off`, and `userxattr` where
/// not by root (which takes no other redirect_dir): the changes are read from the upper folder,
/// which must hold whole copies. A moved folder met there is an error, not a wrong diff.
struct MountPlan {
  enum class Kind {
    overlay,  ///< overlayfs: lower = the workspace itself, upper and work in `state`
    bind,     ///< the folder `source` bound over the workspace's path
    direct,   ///< no mount: commands work in `source` at its own path
  };
  Kind kind = Kind::overlay;
  bool in_place = false;  ///< bind and direct: `source` is the user's own tree, in which nothing
                          ///< may be made, no mount point either
  std::filesystem::path workspace;           ///< absolute, links resolved: where commands see it,
                                             ///< `direct` aside
  std::filesystem::path source;              ///< bind and direct: the copy
  std::filesystem::path upper;               ///< overlay
  std::filesystem::path work;                ///< overlay; same file system as upper
  std::vector<std::filesystem::path> cover;  ///< folders shown empty and read-only: --out inside
                                             ///< the workspace, relative to it
};

}  // namespace sortie
