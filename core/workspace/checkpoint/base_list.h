#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/files.h"

namespace sortie {

/// What a tree has that its commit does not have, for a tree elsewhere to be compared with. A line
/// for each path, "MARK NAME\n" as in own_state.h, in the paths' byte order; but no mark has a time,
/// which is another one in each copy of a tree:
///
///     file SIZE | program SIZE     of a large file, and of all files once much was read
///
/// A list has no limit, so it is written and read in pieces of whole lines.
struct BaseEntry {
  std::string_view mark;
  std::string path;  ///< with "/" after a folder's
};

/// Reads the lines of one list after the other.
class BaseListReader {
 public:
  /// @param pieces  outlive the reader
  explicit BaseListReader(const std::vector<std::string_view>& pieces) : pieces_(pieces) {}
  /// Nothing at the end.
  std::optional<BaseEntry> next();

 private:
  const std::vector<std::string_view>& pieces_;
  std::size_t piece_ = 0;
  std::size_t at_ = 0;
};

/// @param paths  with "/" after folders
/// @param write  gets one piece after the other, of about 1 MiB
void write_base_list(std::vector<std::string> paths, const Files& tree,
                     const std::function<void(std::string_view)>& write);

/// How the base of a list and that of a tree are compared.
struct BaseComparison {
  /// Relative paths that don't count, with all below them.
  std::vector<std::filesystem::path> apart{};
  /// The list was made in a tree that a run had written to. It has no folders, which may have gone.
  bool without_folders = false;
};

/// The paths in which a tree is not the one that the list was made of.
/// @param now   own_changes_since() of the tree, all of them
/// @param tree  the same
std::vector<std::string> base_list_differences(const std::vector<std::string_view>& pieces,
                                               const std::vector<std::string>& now,
                                               const Files& tree, const BaseComparison& how);

}  // namespace sortie
