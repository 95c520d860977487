#pragma once

#include <functional>
#include <mutex>

#include "core/workspace/diff.h"
#include "tools/missing_path.h"
#include "tools/tool.h"

namespace sortie {

/// `git_diff`: what the run has changed so far, as the diff at its end has it, or one path's part.
class GitDiff : public Tool {
 public:
  /// @param make    the run's diff now; an Error says what can't be told
  /// @param hidden  paths that are not shown
  GitDiff(std::function<Diff()> make, std::filesystem::path workspace, HiddenPaths hidden = {});
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  std::function<Diff()> make_;
  std::mutex one_at_a_time_;  ///< what a diff is made from is not made for several threads
  std::filesystem::path workspace_;
  HiddenPaths hidden_;
  ToolSpec spec_;
};

/// The parts of a diff in git's format, one a file: each begins with "diff --git".
std::vector<std::string_view> diff_sections(std::string_view diff);

}  // namespace sortie
