#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/workspace/workspace.h"
#include "core/workspace/workspace_options.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {

/// A child process in a mount namespace of its own with a plan's overlay mounted: the small part
/// of the keeper that a workspace needs.
class MountedView {
 public:
  /// @param work  what the "commands" do, run in the child behind the mount
  explicit MountedView(
      const MountPlan& plan, const std::function<void()>& work = [] {});
  MountedView(const MountedView&) = delete;
  ~MountedView();
  /// Why there is no view, or "".
  const std::string& refused() const { return refused_; }
  /// The workspace as the child sees it.
  const DiskFiles& files() const { return *files_; }

 private:
  pid_t child_ = -1;
  Fd leash_;  ///< the child ends when this closes
  std::string refused_;
  std::unique_ptr<DiskFiles> files_;
};

/// probe_overlay for WorkspaceOptions: mounts the plan for real.
std::string probe_overlay(const MountPlan& plan);

/// A workspace in a temporary folder: the user's tree, --out and the state beside it.
struct Bench {
  TemporaryFolder folder;
  std::filesystem::path root = folder / "tree";
  WorkspaceOptions options;
  Bench();
};

/// Whether overlays can be mounted here; else a message says why not.
bool overlay_works();

/// Those that work here, the overlay first.
std::vector<Isolation> isolations();
const char* name_of_isolation(Isolation isolation);

/// Waits until the clock that stamps files has moved on: what is written from then on has a later
/// time than what was written before.
void next_tick(const std::filesystem::path& folder);

/// Runs `work` in the workspace's view (given its root) and then `judge` with the view.
/// @return  why it could not be done, or ""
std::string in_view(const Workspace& workspace,
                    const std::function<void(const std::filesystem::path&)>& work,
                    const std::function<void(const Files&)>& judge);

}  // namespace sortie::test
