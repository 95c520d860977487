#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/files/files.h"
#include "core/git/git_content.h"
#include "core/git/git_tree.h"
#include "tools/search/tree_walk.h"
#include "tools/workspace_path.h"

namespace sortie {

/// A list of paths that keeps the first few and counts the rest.
struct PathList {
  std::size_t most;
  std::size_t count = 0;
  std::string text{};
  void add(const std::string& line);
  /// "TITLE (3):\n…"; "" if empty.
  std::string section(const char* title) const;
};

/// Compares a working tree with its index. Files must be added in byte order of their paths.
class GitComparison {
 public:
  /// @param content  for the same repository
  GitComparison(const GitTreeState& state, const GitContent& content, const DiskFiles& files,
                const HiddenPaths& hidden, std::size_t most_paths);

  void add(const WalkedFile& file);
  /// Call after the last file: the remaining files of the index were deleted.
  void finish();
  /// Whether the index lists the path or, for a folder, something below it.
  bool is_tracked(std::string_view path, bool is_folder) const;
  /// Whether the path is a submodule, whose content belongs to another repository.
  bool is_submodule(std::string_view path) const;

  const PathList& unstaged() const noexcept { return unstaged_; }
  const PathList& untracked() const noexcept { return untracked_; }

 private:
  const TrackedFile* find(std::string_view path) const;
  bool is_hidden(const std::string& path) const;
  void skip_to(std::string_view path);
  void add_unstaged(char kind, const std::string& path, const std::string& remark = {});
  void check_deleted(const TrackedFile& file);
  void compare(const TrackedFile& file, const WalkedFile& found);
  void compare_content(const TrackedFile& file, const WalkedFile& found, std::uint64_t size,
                       bool is_link);
  void add_untracked(std::string path);

  const GitTreeState& state_;
  const GitContent& content_;
  const DiskFiles& files_;
  const HiddenPaths& hidden_;
  std::size_t next_ = 0;  ///< index into state_.tracked
  std::string folder_;    ///< the untracked folder listed last, with a slash at its end
  PathList unstaged_;
  PathList untracked_;
};

}  // namespace sortie
