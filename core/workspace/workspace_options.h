#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/workspace/mount_plan.h"

namespace sortie {

/// How to open a workspace.
struct WorkspaceOptions {
  std::filesystem::path root;                    ///< absolute, links resolved
  std::filesystem::path out;                     ///< --out, absolute; may lie inside root
  std::vector<std::filesystem::path> covered{};  ///< as `out`: folders of other runs
  std::filesystem::path state;  ///< folder for upper and work or the copy, outside root
  Isolation isolation = Isolation::automatic;
  std::uint64_t copy_limit = 2ull << 30;  ///< bytes
  bool namespaces = true;                 ///< whether the keeper can mount (found by probing)
  /// Probes an overlay plan: mounts it in a temporary keeper, reads the top levels, writes through
  /// it. Returns "" or why it does not work.
  std::function<std::string(const MountPlan&)> probe_overlay;
  /// Paths that commands may not read, relative to the root. A copy is made without them if they
  /// can't be masked in it; the diff does not contain them.
  std::function<bool(const std::string& path)> hidden = {};
  /// Isolation none: which of the files that git ignores are kept, too, as long as there is room
  /// within copy_limit. Empty: none.
  std::function<bool(const std::string& path)> keeps_ignored = {};
  /// The submodules that get a diff of their own: a list as listed_submodules() takes it.
  std::vector<std::string> submodules = {};
  /// Whether commands are to be kept from changing any path (paths.protect is not empty).
  bool protects = true;
  /// Isolation none: whether the start is kept, for a diff.
  bool keeps_start = true;
  /// Skips the probe: mounting will show whether it works.
  bool overlay_assumed = false;
  /// Leaves the record of the start to Workspace::keep_record(), where nothing of the tree is copied
  /// before.
  bool keeps_record_later = false;
};

/// The folders in the workspace that contain the run's own output, relative to it: --out, and the
/// previous run, which was moved to `OUT.prev`.
std::vector<std::filesystem::path> output_folders(const WorkspaceOptions& options);

}  // namespace sortie
