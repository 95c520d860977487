#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/workspace/start_differences.h"
#include "core/workspace/work_times.h"

namespace sortie {

/// Tells changes of a run in the user's own tree from those of others, by the times in which it
/// worked.
class WhoseChange {
 public:
  /// @param root  the user's own tree
  WhoseChange(std::filesystem::path root, std::vector<WorkTime> times)
      : root_(std::move(root)), times_(std::move(times)) {}

  /// Whether somebody else made what is at the path last. What is older than all work came there in a
  /// folder that was moved: then it is theirs who wrote to the folders above it last.
  /// Ask it before anything is put back. @param one  is there
  bool is_of_others(const StartDifference& one) const;
  bool is_within_work(std::int64_t ctime) const { return is_within(times_, ctime); }

 private:
  bool is_moved_by_others(const std::filesystem::path& path) const;

  std::filesystem::path root_;
  std::vector<WorkTime> times_;
  mutable bool asked_ = false;
  mutable std::filesystem::path last_folder_;  ///< of is_moved_by_others()
  mutable bool last_answer_ = false;
};

}  // namespace sortie
