#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"

/// Functions on names below the open root of a tree on disk. Each throws ToolError, "PATH: cause".
namespace sortie::disk {

/// The path for openat2(2): "." for the root, without a final slash, which would follow a link.
std::string relative_name(const std::filesystem::path& path);
/// The folder of a path and its last name.
std::pair<std::string, std::string> split_name(const std::filesystem::path& path);
struct stat stat_of(const Fd& file, const std::filesystem::path& path);

/// Opens a folder; makes missing folders on the way, with mode 0755.
/// @param shown  for messages
/// @param made   receives the folders that were made, parents first
Fd make_folders(int root, const std::filesystem::path& folder, const std::filesystem::path& shown,
                std::vector<std::string>* made = nullptr);

/// The owner for a file to be written in a folder: the replaced file's owner, else the folder's.
/// `there` is the status of the replaced file; mode 0: there is none.
struct stat owner_of(const Fd& folder, const struct stat& there, const std::filesystem::path& path);
/// The status of the file at the name, links not followed; all zero if there is none.
/// @throws ToolError  for a folder
struct stat replaced_at(const Fd& folder, const std::string& name,
                        const std::filesystem::path& path);

/// Makes a file with this content, owner and mode under a new name in the folder. Nothing is left
/// on failure. Not synced: a run's changes are kept by its diff, which is synced.
/// @return  the name
std::string make_beside(const Fd& folder, std::string_view content, const struct stat& owner,
                        unsigned mode, const std::filesystem::path& path);

/// Makes a link in place of the file or link that is there; makes its parent folders.
void write_link(int root, const std::filesystem::path& path, const std::string& target);
/// Removes a folder that holds nothing but folders.
void remove_hollow(Files& files, const std::filesystem::path& path);

/// Keeps the last used folder below a root open: paths are mostly sorted by folder.
class OpenFolder {
 public:
  explicit OpenFolder(int root) : root_(root) {}
  /// No descriptor, with errno set, if it can't be opened.
  const Fd& open(const std::string& folder);
  /// Opens it, and makes missing folders on the way.
  /// @param shown  for messages
  /// @param made   receives the folders that were made, parents first
  /// @throws ToolError
  const Fd& make(const std::string& folder, const std::filesystem::path& shown,
                 std::vector<std::string>& made);
  void close() { folder_.reset(); }

 private:
  int root_;
  std::string name_;
  Fd folder_;
};

}  // namespace sortie::disk
