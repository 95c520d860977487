#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace.h"
#include "core/workspace/workspace_options.h"

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
class OverlayWorkspace : public Workspace {
 public:
  /// Makes the upper and work folders in options.state, or takes those that a run before left.
  OverlayWorkspace(const WorkspaceOptions& options, std::string reason);
  Isolation isolation() const override { return Isolation::overlay; }
  const std::string& reason() const override { return reason_; }
  MountPlan mount_plan() const override { return plan_; }
  const Files& start() const override { return start_; }
  const StartRecord& record() const override { return record_; }

 private:
  std::vector<ChangedPath> find_changes(const Files& view, const Pace& pace) const override;

  MountPlan plan_;
  std::string reason_;
  StartRecord record_;
  DiskFiles start_;
};

/// The plan of an overlay with its folders in `state`, which are made.
/// @throws Error  ExitCode::environment when they can't be
MountPlan make_overlay_plan(const WorkspaceOptions& options, const std::filesystem::path& state);

/// Why an overlay can't work here, or "" when a probe of it went well.
std::string overlay_obstacle(const WorkspaceOptions& options);

}  // namespace sortie
