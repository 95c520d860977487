#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/workspace/diff/diff.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

/// Makes the current diff of the run.
/// @param only          limits the diff to this path; "" for all
/// @param check_cancel  called repeatedly; its exceptions have to propagate
using MakeDiff = std::function<Diff(const std::string& only, const CancelCheck& check_cancel)>;

struct GitDiffOptions {
  HiddenPaths hidden{};  ///< paths that are not shown
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
  /// Limit for the diffs that are shown; further files are only listed. One diff is always shown.
  std::size_t max_bytes = 64u << 10;
};

/// `git_diff`: the changes of the run so far, in the form of its final diff; or those of one path.
class GitDiff : public Tool {
 public:
  /// @param make  throws Error when there is no diff
  GitDiff(MakeDiff make, std::filesystem::path workspace, const Clock& clock,
          GitDiffOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  Diff make(const std::string& path, const std::stop_token& stop);
  bool is_shown(const DiffFile& file, const std::string& path) const;

  MakeDiff make_;
  std::timed_mutex one_at_a_time_;  ///< making a diff holds many files in memory
  std::filesystem::path workspace_;
  const Clock& clock_;
  GitDiffOptions options_;
};

/// Splits a git diff into one part per file, each beginning with "diff --git". Two consecutive
/// patches of the same file make one part.
std::vector<std::string_view> diff_sections(std::string_view diff);

}  // namespace sortie
