#pragma once

#include <chrono>
#include <cstddef>

#include "core/base/clock.h"
#include "core/files/files.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

struct ListDirOptions {
  HiddenPaths hidden{};              ///< paths that are left out
  std::size_t max_bytes = 1u << 20;  ///< size of the list that one call shows
  std::chrono::milliseconds time_limit = std::chrono::seconds(20);
};

/// `list_dir`: the content of a folder, some levels deep, sorted.
class ListDir : public Tool {
 public:
  /// @param workspace  absolute; paths that begin with it are relative to it
  ListDir(const Files& files, std::filesystem::path workspace, const Clock& clock,
          ListDirOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  struct Listing;
  void list(const std::vector<FolderEntry>& entries, const std::filesystem::path& folder, int depth,
            Listing& listing) const;
  std::string line_of(const std::filesystem::path& path, FileStatus::Kind kind) const;

  const Files& files_;
  std::filesystem::path workspace_;
  const Clock& clock_;
  ListDirOptions options_;
};

}  // namespace sortie
