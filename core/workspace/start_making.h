#pragma once

#include <sys/stat.h>

#include <map>
#include <string>

#include "core/base/fd.h"
#include "core/workspace/start_files.h"
#include "core/workspace/start_list.h"

namespace sortie {

/// A file or link that is there, in its open folder.
struct PlacedName {
  const Fd& folder;
  std::string name;
};

/// Makes files, links and pipes as they were at the start, from what was kept of them.
class StartMaker {
 public:
  /// @param start  outlives the object
  explicit StartMaker(const StartFiles& start) : start_(start) {}

  /// Whether a file or link has the content that the entry had at the start. Holes of files are not
  /// read. @throws ToolError  what was kept is lost
  bool is_content_of(const PlacedName& there, const StartEntry& was) const;
  /// Makes the entry under a new name: content, owner where this process may give it, mode, time of
  /// the last change; a file is synced. One that had several names becomes a further name of the one
  /// that was added for it. @throws ToolError
  void make(const PlacedName& at, const StartEntry& was) const;
  /// Whether make() can make such an entry: a file, a link or a pipe.
  static bool can_make(const StartEntry& was);
  /// A file that is as at the start: its further names are made as links to it.
  /// @param path  relative to the tree
  void add(const StartEntry& was, const std::string& path) { made_.emplace(was.stamp.inode, path); }
  /// The path of such a file; "" for none.
  std::string other_name(const StartEntry& was) const;
  static void set_time(const PlacedName& at, const StartEntry& was);

 private:
  void make_file(const PlacedName& at, const StartEntry& was) const;
  bool has_bytes(const Fd& now, const StartEntry& was) const;

  const StartFiles& start_;
  std::map<std::uint64_t, std::string> made_;  ///< by the inode at the start
};

}  // namespace sortie
