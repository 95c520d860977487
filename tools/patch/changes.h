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

/// A tree with changes that are not written yet, and their writing: all of them or none.
class Changes {
 public:
  using File = RegularFile;

  explicit Changes(const Files& files) : files_(files) {}

  /// The path with the links of its folders resolved: what is removed or moved away.
  std::filesystem::path entry(const std::filesystem::path& path);
  /// The path with all links resolved: what is read and written.
  std::filesystem::path target(const std::filesystem::path& path);

  /// Reads the files at these entries, where regular ones stand and can be read, several at the
  /// same time: what follows finds them read.
  void read_ahead(std::vector<std::filesystem::path> entries);
  /// The file at a target, with the changes so far; stays until that is changed.
  /// @throws ToolError  a folder, not readable
  const std::optional<File>& read(const std::filesystem::path& target);
  /// What stands at an entry, with the changes so far.
  std::optional<FileStatus::Kind> kind(const std::filesystem::path& entry);

  void write(const std::filesystem::path& target, File file);
  void remove(const std::filesystem::path& entry);

  /// Writes all changes, to the files that were read, or nothing.
  /// @throws ToolError  which path could not be written or removed, and why
  void commit(Files& files) const;

 private:
  /// A path that was read or changed.
  struct Node {
    std::optional<File> now{};  ///< with the changes so far
    bool stood = false;         ///< something stands there on disk
    bool is_link = false;       ///< and it is a link
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
  Node& look_at(const std::filesystem::path& path);
  bool lacks_folder(const std::filesystem::path& path) const;
  std::vector<Replacement> in_order() const;

  const Files& files_;
  std::filesystem::path last_path_;  ///< asked for its status: mostly asked again at once
  std::optional<FileStatus> last_status_;
  std::map<std::filesystem::path, Node, ByName> nodes_;
  std::map<std::filesystem::path, std::filesystem::path, ByName> folders_;  ///< resolved
};

}  // namespace sortie::patch
