#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/manifest.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// A workspace that is a copy of the user's tree in the state folder, bound over the tree's path
/// where the keeper can mount. Permissions, links, holes and times are kept, hard links are not;
/// pipes, sockets and devices are left out. What changed is found by a manifest of the copy.
class CopyWorkspace : public Workspace {
 public:
  /// Copies the tree, or takes the whole copy that a run before left in options.state.
  /// @param reason  completed by how the copy was made
  /// @throws Error  ExitCode::environment: too large, a file that can't be read, a full disk
  CopyWorkspace(const WorkspaceOptions& options, std::string reason);
  Isolation isolation() const override { return Isolation::copy; }
  const std::string& reason() const override { return reason_; }
  MountPlan mount_plan() const override { return plan_; }
  const Files& start() const override { return start_; }
  const StartRecord& record() const override { return record_; }

 private:
  std::vector<ChangedPath> find_changes(const Files& view, const Pace& pace) const override;

  MountPlan plan_;
  std::function<bool(const std::string& path)> hidden_;  ///< of the plan where nothing is mounted
  std::string reason_;
  StartRecord record_;
  DiskFiles start_;
  Manifest manifest_;
};

}  // namespace sortie
