#pragma once

#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// The tree of files that a run's commands see (docs/sandbox.md).
struct View {
  Fd workspace;                           ///< its root, O_PATH
  std::vector<std::string> placeholders;  ///< folders made to cover names that did not exist
  std::vector<std::string> notes;         ///< what could not be covered, and why
  Fd private_root;                        ///< the file system of HOME, /tmp, /var/tmp, /dev/shm
  /// Folders of the machine's under an overlay whose upper folder is in that file system.
  std::vector<std::filesystem::path> toolchains;
  UserNamespace user = UserNamespace::machine;
};

/// Builds the view in the calling process' own, new mount and PID namespaces and makes it the
/// root. Every mount of the machine that is not shown is gone afterwards.
/// @param path_variable  sortie's own PATH: its folders are shown
/// @throws Error  with the step and path; the process is then of no use but to exit
View build_view(const SandboxProfile& profile, const std::string& path_variable,
                UserNamespace user);

/// Unmounts the covers and removes the folders below them, so that none stays in the tree.
void remove_placeholders(const View& view) noexcept;

/// A new /proc for a command's own PID namespace over the view's. 0 or the errno.
int mount_command_proc(bool read_only) noexcept;

/// Makes a mounted tree read-only in this mount namespace alone. 0 or the errno.
int make_tree_read_only(const char* path) noexcept;

}  // namespace sortie
