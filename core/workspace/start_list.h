#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/workspace/file_stamp.h"

namespace sortie {

/// A file, link or folder of a tree at the start of a run that works in it.
struct StartEntry {
  /// Where its content at the start can be read once the tree has another.
  enum class Held {
    nowhere,  ///< ignored by git and not kept, or neither a file nor a link
    kept,     ///< a copy in the folder of kept files; `place` is its name there
    object,   ///< in the repository; `place` is the blob's id, 40 hex digits
    link,     ///< `place` is the link's target
  };
  std::string path;
  FileStamp stamp{};
  unsigned user = 0;
  unsigned group = 0;
  Held held = Held::nowhere;
  std::string place{};
  bool is_ignored = false;  ///< by git; only of regular files
  bool operator==(const StartEntry&) const = default;
};

/// A whole tree at the start, without what is in `.git` folders and the run's own output. The entry
/// of the tree's own folder has the path "".
class StartList {
 public:
  std::string mark;                           ///< folder_mark() of the folder that it is stored in
  std::filesystem::path root;                 ///< the tree's; absolute
  std::vector<std::filesystem::path> cover;   ///< folders in it that are not looked at
  std::vector<std::filesystem::path> linked;  ///< files with a name outside of the tree; absolute

  void add(StartEntry entry) { entries_.push_back(std::move(entry)); }
  /// Call it after the last add().
  void sort();
  const std::vector<StartEntry>& entries() const noexcept { return entries_; }
  /// nullptr for none.
  const StartEntry* find(std::string_view path) const;
  /// The entries directly in a folder, by name in byte order; "" is the root.
  std::vector<const StartEntry*> children(const std::string& folder) const;

 private:
  std::vector<StartEntry> entries_;  ///< sorted by path
};

std::string start_list_text(const StartList& list);
/// Nothing if the text is not a complete list.
std::optional<StartList> parse_start_list(std::string_view text);

}  // namespace sortie
