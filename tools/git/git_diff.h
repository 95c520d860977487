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

/// Makes the run's diff as it is now.
/// @param only  the path to look at, "" for all
/// @param pace  called while it is made; what it throws has to come through
using MakeDiff = std::function<Diff(const std::string& only, const CancelCheck& pace)>;

struct GitDiffOptions {
  HiddenPaths hidden{};  ///< paths that are not shown
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
  /// Bytes of the files' diffs: those that are more are listed only. One is always there.
  std::size_t room = 64u << 10;
};

/// `git_diff`: what the run has changed so far, as the diff at its end has it, or one path's part.
class GitDiff : public Tool {
 public:
  /// @param make  an Error says what can't be told
  GitDiff(MakeDiff make, std::filesystem::path workspace, const Clock& clock,
          GitDiffOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  Diff make(const std::string& path, const std::stop_token& stop);
  bool is_shown(const DiffFile& file, const std::string& path) const;

  MakeDiff make_;
  std::timed_mutex one_at_a_time_;  ///< each holds many files in memory
  std::filesystem::path workspace_;
  const Clock& clock_;
  GitDiffOptions options_;
};

/// The parts of a diff in git's format, one a file: each begins with "diff --git". What is told of
/// one file by two of those stands in one part.
std::vector<std::string_view> diff_sections(std::string_view diff);

}  // namespace sortie
