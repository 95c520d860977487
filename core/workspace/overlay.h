#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace on an overlayfs whose lower layer is the user's own tree. Changes are read from the
/// upper folder alone, so the cost is proportional to the changes.
///
/// In the upper folder a changed file is a complete copy; a deletion is a character device 0:0; a
/// folder that hides the lower one has the attribute `overlay.opaque` = "y", in `trusted.` if root
/// mounted it, else in `user.` (kernel: Documentation/filesystems/overlayfs.rst).
///
/// The user's own files show through as they are. Their ctime, which the kernel updates with every
/// change and nobody can set, shows which were written to since the start.
///
/// Creates the upper and work folders in options.state, or reuses those of an earlier run.
/// @throws Error  ExitCode::environment if they can't be created
std::unique_ptr<Workspace> make_overlay(const WorkspaceOptions& options, std::string reason);

/// A second workspace over the same start as a run's, whose upper and work folders are made in
/// `folder`; nothing is mounted by it. @throws Error  as make_overlay()
std::unique_ptr<Workspace> make_overlay_beside(const Workspace& run,
                                               const std::filesystem::path& folder);

/// Why an overlay does not work here, or "" if a probe succeeded.
std::string why_no_overlay(const WorkspaceOptions& options);

}  // namespace sortie
