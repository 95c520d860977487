#pragma once

#include <memory>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// A workspace under an overlayfs whose lower layer is the user's own tree. What changed is read
/// from the upper folder alone, so that its cost grows with what changed.
///
/// On disk a change is a whole copy; a deletion a character device 0:0; a folder that hides the
/// lower one has the attribute `overlay.opaque` = "y", in `trusted.` where root mounted it, in
/// `user.` elsewhere (kernel: Documentation/filesystems/overlayfs.rst).
///
/// The user's own files show through as they are. Which of them were written to since the start is
/// told by their ctime, which the kernel moves on with every change and nobody can set.
///
/// Makes the upper and work folders in options.state, or takes those that a run before left.
/// @throws Error  ExitCode::environment when they can't be made
std::unique_ptr<Workspace> make_overlay(const WorkspaceOptions& options, std::string reason);

/// Why an overlay can't work here, or "" when a probe of it went well.
std::string overlay_obstacle(const WorkspaceOptions& options);

}  // namespace sortie
