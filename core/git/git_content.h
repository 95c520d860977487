#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/git/git_tree.h"

namespace sortie {

/// Tells whether files of a working tree are what its index has of them, without running anything:
/// line ends are compared as the repository's attributes and configuration say, a file that git-lfs
/// keeps by the digest in its pointer. What another filter would make of a file is not known.
class GitContent {
 public:
  enum class Verdict {
    same,
    changed,
    filtered,  ///< it differs as it stands, and is kept through a filter that is not run
  };

  /// @param workspace  absolute, links resolved
  /// @throws Error  for a repository that can't be read
  explicit GitContent(const std::filesystem::path& workspace);
  ~GitContent();
  Verdict compare(const TrackedFile& file, std::string_view content) const;
  /// Whether the content is, byte for byte, what the index has.
  static bool is_blob(const TrackedFile& file, std::string_view content);
  /// How git converts the path's content between the tree and its objects, in a word of the
  /// attributes: "filter=lfs", "working-tree-encoding=UTF-16"; "" for line ends at the most.
  std::string conversion(const std::string& path) const;
  /// Bytes of the file that the index has a pointer of git-lfs for; nothing where it has none.
  std::optional<std::uint64_t> lfs_size(const TrackedFile& file) const;

 private:
  std::string attribute(const std::string& path, const char* name) const;
  bool converts_line_ends(const std::string& path) const;
  std::string pointer(const TrackedFile& file) const;

  struct Repository;
  std::unique_ptr<Repository> repository_;
  std::string prefix_;  ///< of the workspace in it, with a slash at its end; ""
  bool autocrlf_ = false;
};

}  // namespace sortie
