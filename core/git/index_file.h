#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// An entry of git's index (gitformat-index(5)).
struct IndexEntry {
  std::string_view path;  ///< in the IndexFile
  unsigned mode = 0;
  std::array<unsigned char, 20> id{};
  std::uint32_t size = 0;  ///< modulo 2^32
  std::uint32_t inode = 0;
  std::uint32_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  std::uint32_t changed_s = 0;
  std::uint32_t changed_ns = 0;
  unsigned stage = 0;  ///< 0: no conflict
  bool assume_unchanged = false;
  bool skip_worktree = false;
  bool intent_to_add = false;
};

/// The content of an index file, looked into in place: libgit2 takes ten times as long to read one
/// of 80,000 entries. Entries are sorted by the bytes of their paths, then by stage.
class IndexFile {
 public:
  /// @return  nothing for a file that is read by libgit2 alone, or not at all: of version 4, split,
  ///          sparse, unsorted, damaged (its checksum is verified), or none
  static std::optional<IndexFile> open(const std::filesystem::path& path);
  /// The same of these bytes.
  static std::optional<IndexFile> parse(std::string bytes);

  std::size_t size() const noexcept { return places_.size(); }
  IndexEntry entry(std::size_t i) const;
  std::string_view path(std::size_t i) const;
  /// The first entry whose path is not less.
  std::size_t lower_bound(std::string_view path) const;
  /// The entry of a path that is in no conflict.
  std::optional<IndexEntry> find(std::string_view path) const;
  /// The id of the tree that the whole index would be written as, where git has noted one: then it
  /// has no conflict, and nothing was staged since.
  const std::optional<std::array<unsigned char, 20>>& tree() const noexcept { return tree_; }

 private:
  explicit IndexFile(std::string bytes) : bytes_(std::move(bytes)) {}
  bool find_entries();
  bool find_extensions(std::size_t at);
  void read_tree(std::string_view content);

  std::string bytes_;
  std::vector<std::uint32_t> places_;  ///< where entries begin
  std::optional<std::array<unsigned char, 20>> tree_;
};

/// An index file that does not change, read by the first who needs it. Threads may share one.
class IndexOnce {
 public:
  /// @param path  the same each time
  /// @return      null as for IndexFile::open(); then the next call tries again
  std::shared_ptr<const IndexFile> open(const std::filesystem::path& path);

 private:
  std::mutex mutex_{};
  std::shared_ptr<const IndexFile> file_{};
};

}  // namespace sortie
