#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"

namespace sortie::patch {

/// A tree with pending changes, which commit() writes completely or not at all.
class Changes {
 public:
  using File = RegularFile;

  explicit Changes(const Files& files) : files_(files) {}

  /// The path with links in its folders resolved: for removing or moving away.
  std::filesystem::path entry(const std::filesystem::path& path);
  /// The path with all links resolved: for reading and writing.
  std::filesystem::path target(const std::filesystem::path& path);

  /// Reads the regular files at these entries in parallel, for later calls. Others are skipped.
  void read_ahead(std::vector<std::filesystem::path> entries);
  /// The file at a target, with the changes so far. Valid until the target changes.
  /// @throws ToolError  for a folder, or an unreadable file
  const std::optional<File>& read(const std::filesystem::path& target);
  /// The kind of an entry, with the changes so far.
  std::optional<FileStatus::Kind> kind(const std::filesystem::path& entry);

  void write(const std::filesystem::path& target, File file);
  void remove(const std::filesystem::path& entry);

  /// Writes all changes or none, to the same files that were read.
  /// @throws ToolError  which path could not be written or removed, and why
  void commit(Files& files) const;

 private:
  /// A path that was read or changed.
  struct Node {
    std::optional<File> now{};  ///< with the changes so far
    bool exists = false;        ///< there is something on disk
    bool is_link = false;       ///< a link on disk
    bool changed = false;
  };

  /// By the bytes of the name: comparing paths part by part costs ten times as much.
  struct ByName {
    bool operator()(const std::filesystem::path& a, const std::filesystem::path& b) const {
      return a.native() < b.native();
    }
  };
  using PathSet = std::set<std::filesystem::path, ByName>;

  const std::optional<FileStatus>& status(const std::filesystem::path& path);
  Node& load(const std::filesystem::path& path);
  bool lacks_folder(const std::filesystem::path& path) const;
  std::vector<Replacement> in_order() const;

  const Files& files_;
  std::filesystem::path last_path_;  ///< last status query: mostly repeated at once
  std::optional<FileStatus> last_status_;
  std::map<std::filesystem::path, Node, ByName> nodes_;
  std::map<std::filesystem::path, std::filesystem::path, ByName> folders_;  ///< resolved
};

}  // namespace sortie::patch
