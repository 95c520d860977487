#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/fd.h"

/// What the files of a tree on disk share: names below an open root, and what is made there.
/// Each throws ToolError, "PATH: cause".
namespace sortie::disk {

/// The path as openat2 takes it: "." for the root, no slash at the end, which would follow a link.
std::string relative_name(const std::filesystem::path& path);
/// The folder of a path and its last name.
std::pair<std::string, std::string> split_name(const std::filesystem::path& path);
struct stat stat_of(const Fd& file, const std::filesystem::path& path);

/// Opens a folder and makes what is missing on the way, 0755.
/// @param shown  for messages
/// @param made   gets the folders that were made, parents first
Fd make_folders(int root, const std::filesystem::path& folder, const std::filesystem::path& shown,
                std::vector<std::string>* made = nullptr);

/// Whose the file is to be that is written at this name of a folder: the replaced one's owner, else
/// the folder's. `there` is what stands at the name; its mode is 0 where nothing does.
struct stat owner_of(const Fd& folder, const struct stat& there, const std::filesystem::path& path);
/// What stands at the name, links not followed; all zero where nothing does.
/// @throws ToolError  a folder
struct stat replaced_at(const Fd& folder, const std::string& name,
                        const std::filesystem::path& path);

/// Makes a file of this content, owner and mode under a name that the folder does not have yet.
/// Nothing is left where that fails. Not synced: what a run changes lasts by its diff, which is.
/// @return  the name
std::string make_beside(const Fd& folder, std::string_view content, const struct stat& owner,
                        unsigned mode, const std::filesystem::path& path);

/// A folder below an open root that stays open until another one is asked for: paths mostly come in
/// the order of their folders.
class OpenFolder {
 public:
  explicit OpenFolder(int root) : root_(root) {}
  /// None, with errno set, where it can't be opened.
  const Fd& open(const std::string& folder);
  /// With all that is missing on the way.
  /// @param shown  for messages
  /// @param made   gets the folders that were made, parents first
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
