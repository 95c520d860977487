#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// All changes of a run so far that git would store, by path, each with a text that identifies the
/// content. Together with the start, this is what a verification checks.
using ChangedState = std::map<std::string, std::string>;

/// Leaves out what the diff is not about: ignored paths and build products (DiffScope); and paths
/// that match `may_change` (git pathspecs).
/// @throws Error
ChangedState changed_state(const Workspace& workspace, const Files& view,
                           const std::filesystem::path& root, const DiffOptions& options,
                           const std::vector<std::string>& may_change,
                           const CancelCheck& check_cancel = {});

/// The paths whose content differs, sorted.
std::vector<std::string> differing_paths(const ChangedState& one, const ChangedState& other);

/// Finds after each command which files it changed, created or removed, without reading any: by
/// names and times in the overlay's upper folder, or in the copy.
///
/// Always cheap: past `most_entries` files it gives up for the rest of the run.
class TouchedPaths {
 public:
  static constexpr std::size_t kMaxListed = 100;

  /// @param file_limit  the size that files of commands may have; 0: none
  explicit TouchedPaths(const Workspace& workspace, std::uint64_t file_limit = 0,
                        std::size_t most_entries = 5000);
  /// The paths touched since the last call, or since the start: "A path", "M path", "D path",
  /// sorted by path; at most kMaxListed, then "… N more".
  std::vector<std::string> take();
  /// The files of the last take() that have exactly that size, at most kMaxListed: the program that
  /// wrote them was stopped there.
  const std::vector<std::string>& at_limit() const noexcept { return at_limit_; }

 private:
  using Stamps = std::map<std::string, FileStamp>;

  Stamps look() const;
  std::string line(const std::string& path, const FileStamp* was, const FileStamp* is) const;
  bool stood_below(const std::string& path) const;

  MountPlan plan_;
  std::uint64_t file_limit_;
  std::size_t most_entries_;
  bool given_up_ = false;
  Stamps known_;
  std::vector<std::string> at_limit_;
};

}  // namespace sortie
