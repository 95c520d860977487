#pragma once

#include <chrono>

#include "core/base/clock.h"
#include "core/files/files.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

struct GitStatusOptions {
  HiddenPaths hidden{};  ///< paths that are not named
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
  std::size_t max_paths = 200;  ///< of each kind
};

/// `git_status`: branch, staged, unstaged and untracked paths, last commits. git is not run:
/// libgit2 reads the repository, and the working tree is compared here, so that no hook, filter or
/// fsmonitor of the repository runs.
class GitStatus : public Tool {
 public:
  /// @param repository  a working tree or a folder in one, on disk
  GitStatus(const DiskFiles& files, std::filesystem::path repository, const Clock& clock,
            GitStatusOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  const DiskFiles& files_;
  std::filesystem::path repository_;
  const Clock& clock_;
  GitStatusOptions options_;
};

}  // namespace sortie
