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
  /// Called once, at the first search of a folder; not set: there are none.
  std::function<std::vector<OuterIgnoreFile>()> outer_ignore_files{};
  /// Names that begin with a dot and are searched all the same, since git tracks them; relative to
  /// the workspace. Called once, at the first such name.
  std::function<std::set<std::string, std::less<>>()> dot_names{};
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
  std::uint64_t largest_file = 64ull << 20;  ///< bytes; a larger one is not searched
  std::size_t max_output = 256u << 10;       ///< bytes of shown lines; past it the search ends
};

/// `search_files`: the lines of the workspace's text files that match an RE2 expression. The output
/// counts the files that were left out, by reason.
class SearchFiles : public Tool {
 public:
  /// @param workspace  absolute; paths that begin with it are relative to it
  /// @param hidden     paths that are neither searched nor named
  SearchFiles(const DiskFiles& files, std::filesystem::path workspace, const Clock& clock,
              HiddenPaths hidden = {}, SearchFilesOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  /// The rules of the workspace and of all folders above `folder`; the walk reads its own.
  IgnoreRules rules_above(const std::filesystem::path& folder);
  bool is_kept_dot_name(std::string_view path);

  const DiskFiles& files_;
  std::filesystem::path workspace_;
  const Clock& clock_;
  HiddenPaths hidden_;
  SearchFilesOptions options_;
  std::once_flag outer_ignore_files_once_;
  std::vector<OuterIgnoreFile> outer_ignore_files_;
  std::once_flag dot_names_once_;
  std::set<std::string, std::less<>> dot_names_;
};

}  // namespace sortie
