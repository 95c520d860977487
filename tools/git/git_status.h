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
  std::size_t most_paths = 200;  ///< of each kind
};

/// `git_status`: branch, staged, unstaged and untracked paths, last commits. No git is run: the
/// repository is read by libgit2, the working tree through its view, so that no hook, filter or
/// monitor of the repository comes into it.
class GitStatus : public Tool {
 public:
  /// @param repository  the working tree, or the folder of one, on disk
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
