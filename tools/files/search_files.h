#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/files/files.h"
#include "core/git/git_ignore.h"
#include "tools/search/ignore_rules.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

struct SearchFilesOptions {
  /// Asked once, at the first search of a folder; not set: there are none.
  std::function<std::vector<OuterIgnoreFile>()> outer_ignore_files{};
  /// Names that begin with a dot and are searched nevertheless, relative to the workspace: what is
  /// tracked by git. Asked once, when the first such name comes up.
  std::function<std::set<std::string, std::less<>>()> dot_names{};
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
  std::uint64_t largest_file = 64ull << 20;  ///< bytes; a larger one is not searched
  std::size_t most_output = 256u << 10;      ///< bytes of lines; past it the search ends
};

/// `search_files`: the lines of the workspace's text files in which an RE2 expression matches. What
/// is left out, and why, is counted in the output.
class SearchFiles : public Tool {
 public:
  /// @param workspace  absolute: a path that begins with it is taken as relative to it
  /// @param hidden     paths that are neither searched nor named
  SearchFiles(const DiskFiles& files, std::filesystem::path workspace, const Clock& clock,
              HiddenPaths hidden = {}, SearchFilesOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  /// Of the workspace and of the folders on the way to one; its own are read by the walk.
  IgnoreRules rules_above(const std::filesystem::path& folder);
  bool is_kept_dot_name(std::string_view path);

  const DiskFiles& files_;
  std::filesystem::path workspace_;
  const Clock& clock_;
  HiddenPaths hidden_;
  SearchFilesOptions options_;
  std::once_flag outer_ignore_files_asked_;
  std::vector<OuterIgnoreFile> outer_ignore_files_;
  std::once_flag dot_names_asked_;
  std::set<std::string, std::less<>> dot_names_;
};

}  // namespace sortie
