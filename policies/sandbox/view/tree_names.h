#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/text/pattern.h"

namespace sortie {

/// Whether any further change of a folder gives it another ctime than it has now. Never of one that
/// lies ahead, by a clock that was set back.
/// @param now_ns  of the clock that ctimes are written by (CLOCK_REALTIME_COARSE), read before it
/// @param local   this kernel writes it, and not a server
bool is_settled(const timespec& ctime, std::int64_t now_ns, bool local);

/// The paths of a tree that match globs, and its links, at every depth, for cheap repeated
/// searches. A folder is listed again only if its ctime, which can't be set, has changed.
///
/// Skips `.git`, node_modules, and everything below a match. No link is followed.
class TreeNames {
 public:
  static constexpr std::size_t kMostEntries = 300'000;

  /// Makes the first search. A tree with more entries than `most` is searched only on its upper
  /// three levels; if these have more than 4,000, not at all.
  /// @param root   absolute
  /// @param globs  relative to it (core/text/pattern.h, path_glob), matched in any letter case
  TreeNames(std::filesystem::path root, const std::vector<std::string>& globs,
            std::size_t most = kMostEntries);

  /// Updates the results.
  void look();
  /// The outermost matching paths, including links; relative to the root.
  const std::set<std::filesystem::path>& matches() const { return matches_; }
  const std::set<std::filesystem::path>& links() const { return links_; }
  enum class Reach { everywhere, upper_levels, nowhere };
  Reach reach() const { return reach_; }

 private:
  struct Folder {
    ino_t inode = 0;
    std::int64_t changed_ns = 0;  ///< ctime
    bool settled = false;         ///< any further change will give another ctime
    std::size_t entries = 0;
    std::vector<std::string> folders{};  ///< names
    std::vector<std::string> matches{};
    std::vector<std::string> links{};
  };

  bool search(std::size_t levels, std::size_t most);
  const Folder* folder_at(const std::filesystem::path& path);
  void list(const std::filesystem::path& path, Folder& folder) const;

  std::filesystem::path root_;
  Pattern pattern_;
  std::size_t most_;
  std::optional<dev_t> own_ctimes_on_;  ///< the device whose ctimes this kernel writes
  std::map<std::filesystem::path, Folder> folders_;
  std::set<std::filesystem::path> matches_;
  std::set<std::filesystem::path> links_;
  Reach reach_ = Reach::everywhere;
};

}  // namespace sortie
