#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

/// How the workspace is mounted in the run's view; this value itself mounts nothing.
///
/// An overlay is mounted with `redirect_dir=nofollow,metacopy=off,index=off`, and without root with
/// `userxattr` (which allows no other redirect_dir): changes are read from the upper folder, so it
/// must contain complete copies. A redirected folder there is an error, not a wrong diff.
struct MountPlan {
  enum class Kind {
    overlay,  ///< overlayfs: lower = the workspace itself, upper and work in `state`
    bind,     ///< the folder `source` bind-mounted over the workspace's path
    direct,   ///< no mount: commands work in `source` at its own path
  };
  Kind kind = Kind::overlay;
  bool in_place = false;  ///< bind and direct: `source` is the user's own tree, in which nothing
                          ///< may be created, not even mount points
  std::filesystem::path workspace;  ///< absolute, links resolved: where commands see it,
                                    ///< `direct` aside
  std::filesystem::path source;     ///< bind and direct: the copy
  std::filesystem::path upper;      ///< overlay
  std::filesystem::path work;       ///< overlay; same file system as upper
  std::filesystem::path beside;     ///< in_place: the folder for trees of verifications
  std::filesystem::path ended;      ///< in_place: a file below `beside` that is touched once all
                                    ///< processes are dead; relative to it
  std::vector<std::filesystem::path> cover;  ///< folders shown empty and read-only: --out inside
                                             ///< the workspace, relative to it
};

}  // namespace sortie
