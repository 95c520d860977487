#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/git/git_tree.h"

namespace sortie {

/// Compares files of a working tree with its index, without running anything. Line ends are
/// converted as attributes and configuration say; git-lfs files are compared by the digest in their
/// pointer. Other filters are not applied.
class GitContent {
 public:
  enum class Verdict {
    same,
    changed,
    filtered,  ///< the bytes differ, but git would apply a filter that is not run here
  };

  /// @param workspace  absolute, links resolved
  /// @throws Error  for a repository that can't be read
  explicit GitContent(const std::filesystem::path& workspace);
  ~GitContent();
  Verdict compare(const TrackedFile& file, std::string_view content) const;
  /// Whether the content equals the index's, byte for byte.
  static bool is_blob(const TrackedFile& file, std::string_view content);
  /// The attribute by which git converts the path's content between working tree and objects:
  /// "filter=lfs", "working-tree-encoding=UTF-16"; "" for none apart from line ends.
  std::string conversion(const std::string& path) const;
  /// The file size from the git-lfs pointer in the index; nothing if there is no pointer.
  std::optional<std::uint64_t> lfs_size(const TrackedFile& file) const;

 private:
  std::string attribute(const std::string& path, const char* name) const;
  bool converts_line_ends(const std::string& path) const;
  std::string pointer(const TrackedFile& file) const;

  struct Repository;
  std::unique_ptr<Repository> repository_;
  std::string prefix_;  ///< path of the workspace in the repository, with a slash at its end, or ""
  bool autocrlf_ = false;
};

}  // namespace sortie
