#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.h"

namespace sortie::patch {

/// A tree with changes that are not written yet, and their writing: all of them or none.
class Changes {
 public:
  /// What stands at a path: a regular file's content and mode.
  struct File {
    std::string content;
    unsigned mode = 0644;
    bool operator==(const File&) const = default;
  };

  explicit Changes(const Files& files) : files_(files) {}

  /// The path with the links of its folders resolved: what is removed or moved away.
  std::filesystem::path entry(const std::filesystem::path& path);
  /// The path with all links resolved: what is read and written.
  std::filesystem::path target(const std::filesystem::path& path);

  /// The file at a target, with the changes so far. @throws ToolError  a folder, not readable
  std::optional<File> read(const std::filesystem::path& target) const;
  /// What stands at an entry, with the changes so far.
  std::optional<FileStatus::Kind> kind(const std::filesystem::path& entry) const;

  void write(const std::filesystem::path& target, File file);
  void remove(const std::filesystem::path& entry);

  /// Writes all changes, to the files that were read. When one fails, those before it are taken
  /// back.
  /// @throws ToolError  which path could not be written or removed, and why
  void commit(Files& files);

 private:
  struct Change {
    std::optional<File> before;
    std::optional<File> after;
    bool is_link = false;  ///< what was removed is a link
  };

  /// By the bytes of the name: comparing paths part by part costs ten times as much.
  struct ByName {
    bool operator()(const std::filesystem::path& a, const std::filesystem::path& b) const {
      return a.native() < b.native();
    }
  };
  using PathSet = std::set<std::filesystem::path, ByName>;

  void note_before(const std::filesystem::path& path);
  std::vector<std::filesystem::path> order() const;
  void perform(Files& files, const std::filesystem::path& path, const Change& change);
  void note_missing_folders(const std::filesystem::path& path);
  std::string take_back(Files& files, const std::vector<std::filesystem::path>& done);

  const Files& files_;
  std::map<std::filesystem::path, Change, ByName> changes_;
  std::map<std::filesystem::path, std::filesystem::path, ByName> folders_;  ///< resolved
  PathSet present_folders_;
  std::vector<std::filesystem::path> made_folders_;  ///< parents before children
};

}  // namespace sortie::patch
