#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/masks.h"

namespace sortie {

/// The tree of files that a run's commands see (docs/sandbox.md).
struct View {
  Fd workspace;                           ///< its root, O_PATH
  std::vector<std::string> placeholders;  ///< folders made to protect names that did not exist
  std::vector<std::string> notes;         ///< paths that could not be masked, and why
  std::vector<Mask> masks{};              ///< those that another program could take away
  Fd private_root;                        ///< the file system of HOME, /tmp, /var/tmp, /dev/shm
  /// The machine's folders under an overlay whose upper folder is in that file system.
  std::vector<std::filesystem::path> toolchains;
  UserNamespace user = UserNamespace::machine;
  /// Both are mounted under the workspace, out of commands' reach; none without a run.
  Fd start{};  ///< the user's own tree, read-only
  Fd state{};  ///< the folder with the run's upper folder or copy, or for trees beside its own
};

/// Builds the view in the calling process's own, new mount and PID namespaces and makes it the
/// root. leave_machine() has to follow before a process is started in it.
/// @param path_variable  sortie's own PATH: its folders are shown
/// @throws Error  with the step and path; the process can only exit then
View build_view(const SandboxProfile& profile, const std::string& path_variable,
                UserNamespace user);

/// Unmounts what the view does not show of the machine. The working directory must be the one that
/// build_view() has left. @throws Error  the process can only exit then
void leave_machine();

/// Unmounts and removes the placeholders, so that none stays in the tree.
void remove_placeholders(const View& view) noexcept;

/// Mounts the masks of protected, hidden and covered paths over the workspace, which is below the
/// current folder, at its own path. Sets the view's placeholders, masks and notes.
/// @param scratch  a private folder of the view's builder, for the empty folder and file
/// @throws Error  with the path
void lay_path_masks(const SandboxProfile& profile, const std::filesystem::path& scratch,
                    View& view);

/// The masks inside the workspace alone, for another tree at its place.
void lay_workspace_masks(const SandboxProfile& profile, const std::filesystem::path& scratch,
                         View& view);

/// Mounts the files of `git` read-only over those of the view in the current folder.
/// @param scratch  a private folder of the view's builder, for their contents
/// @param view     gets the masks
/// @throws Error  with the path
void lay_git_files(const GitView& git, const std::filesystem::path& scratch, View& view);

}  // namespace sortie
