#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/workspace/mount_plan.h"

namespace sortie {

/// What a workspace is opened with.
struct WorkspaceOptions {
  std::filesystem::path root;   ///< absolute, links resolved
  std::filesystem::path out;    ///< --out, absolute; may lie inside root
  std::filesystem::path state;  ///< where upper, work or the copy go (outside root)
  Isolation isolation = Isolation::automatic;
  std::uint64_t copy_limit = 2ull << 30;  ///< bytes
  bool namespaces = true;                 ///< whether the keeper can mount (found by probing)
  /// Tries an overlay plan for real: mounts it in a throw-away keeper, reads the top levels,
  /// writes through it. Returns "" or why it does not work.
  std::function<std::string(const MountPlan&)> probe_overlay;
  /// Paths that commands may not read, relative to the root. A copy in which nothing can be covered
  /// is made without them; the diff says nothing of them.
  std::function<bool(const std::string& path)> hidden = {};
  /// Not tried beforehand: whoever mounts it sees.
  bool overlay_assumed = false;
};

/// The folders of the workspace that a run's own output is in, relative to it: --out, and the run
/// before it that was moved to `OUT.prev`.
std::vector<std::filesystem::path> output_folders(const WorkspaceOptions& options);

}  // namespace sortie
