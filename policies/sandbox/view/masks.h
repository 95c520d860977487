#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"

namespace sortie {

/// A mount over a path of the view that keeps commands from what is there, or from changing it.
///
/// It lies on the file's entry in its folder. Where that is the machine's own, another program can take
/// it away: the kernel removes all mounts on an entry that is removed, or that another file is renamed
/// over, as editors and git do (rename(2), Linux 3.18).
struct Mask {
  std::filesystem::path path;  ///< absolute, in the view
  /// What is mounted there: a name in the view's private file system; "": the path itself.
  std::string source{};
  Access access = Access::read_only;  ///< of the path itself
};

/// The masks in the calling process' mount namespace that do not stand any more although there is
/// something at their paths. One system call for each mask.
std::vector<Mask> fallen_masks(const std::vector<Mask>& masks);

/// Mounts those that have fallen again. A path that may be written to stays read-only where the folder
/// around it has become so since the start: then a command can do less than at first. What became of a
/// path decides what hides it: a file or a folder; a link that took its place can't be hidden.
/// @param private_root  of the view
/// @throws Error  with the path
void lay_again(const std::vector<Mask>& masks, const Fd& private_root);

}  // namespace sortie
