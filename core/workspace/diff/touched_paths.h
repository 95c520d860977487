#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/workspace/manifest.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// Finds after each command which files it changed, created or removed, without reading any: by
/// names and times in the overlay's upper folder, or in the copy.
///
/// Always cheap: past `most_entries` files it gives up for the rest of the run.
class TouchedPaths {
 public:
  static constexpr std::size_t kMaxListed = 100;

  explicit TouchedPaths(const Workspace& workspace, std::size_t most_entries = 5000);
  /// The paths touched since the last call, or since the start: "A path", "M path", "D path",
  /// sorted by path; at most kMaxListed, then "… N more".
  std::vector<std::string> take();

 private:
  using Stamps = std::map<std::string, FileStamp>;

  Stamps look() const;
  std::string line(const std::string& path, const FileStamp* was, const FileStamp* is) const;
  bool stood_below(const std::string& path) const;

  MountPlan plan_;
  std::size_t most_entries_;
  bool given_up_ = false;
  Stamps known_;
};

}  // namespace sortie
