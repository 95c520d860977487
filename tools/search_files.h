#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "tools/missing_path.h"
#include "tools/tool.h"

namespace sortie {

struct SearchFilesOptions {
  /// Ignore files of folders above the workspace, in the same repository: the workspace's path in
  /// that folder, and the file's text; the outermost first.
  std::vector<std::pair<std::string, std::string>> outer_rules{};
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
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  const DiskFiles& files_;
  std::filesystem::path workspace_;
  const Clock& clock_;
  HiddenPaths hidden_;
  SearchFilesOptions options_;
  ToolSpec spec_;
};

}  // namespace sortie
