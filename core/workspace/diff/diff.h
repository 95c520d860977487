#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diff_base.h"
#include "core/files/files.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace.h"

namespace sortie {

struct DiffOptions {
  DiffBase base = DiffBase::automatic;
  int context_lines = 3;
  bool renames = true;
  /// Ignored paths that belong into the diff, as git pathspecs: "dist", "*.log".
  std::vector<std::string> include;
  std::uint64_t max_file_size = 10ull << 20;
  /// The limit for all changed files together, both sides. They are held in memory, and compressing
  /// binary files takes time, while files full of holes cost the agent nothing.
  std::uint64_t max_bytes = 256ull << 20;
  std::string only{};  ///< a file or folder: no other change is looked at; "": all are
  /// A draft is looked at, not kept: it is not proved by applying it, and fewer pairs of files are
  /// compared to find renames.
  bool draft = false;
  CancelCheck pace{};
};

/// Paths are relative to the workspace.
struct DiffFile {
  std::string path;
  std::string old_path;  ///< where a rename came from, else ""
  ChangedPath::Kind kind = ChangedPath::Kind::modified;
  int added_lines = 0;
  int deleted_lines = 0;
};

/// A changed path that a diff can't hold.
struct LeftOut {
  enum class Why {
    lfs,         ///< git keeps it by filter=lfs, other bytes than the tree's
    submodule,   ///< it lies in a submodule
    unreadable,  ///< a file or folder without the permissions to read it
    bad_name,    ///< git refuses such a path ("git~1")
    too_much,    ///< all changes together are larger than a diff may be
    git_folder,  ///< a `.git` that the run made: git takes none into a tree. No failure
  };
  std::string path;
  Why why = Why::unreadable;
  std::string detail{};  ///< for people; may be ""
  bool operator==(const LeftOut&) const = default;
};
/// "lfs", "submodule", "unreadable", "bad-name", "too-much", "git-folder".
constexpr const char* name_of(LeftOut::Why why) noexcept {
  switch (why) {
    case LeftOut::Why::lfs:
      return "lfs";
    case LeftOut::Why::submodule:
      return "submodule";
    case LeftOut::Why::unreadable:
      return "unreadable";
    case LeftOut::Why::bad_name:
      return "bad-name";
    case LeftOut::Why::too_much:
      return "too-much";
    case LeftOut::Why::git_folder:
      return "git-folder";
  }
  return "";
}

/// What a run changed, as git sees a tree.
struct Diff {
  /// git's extended unified format; "" if nothing changed. Where the workspace is a folder of a
  /// repository, its paths begin at the repository's toplevel: git apply (is_toplevel_relative in
  /// its source) takes them so in every folder, and skips others in silence.
  std::string text;
  std::vector<DiffFile> files;  ///< sorted by path
  std::vector<std::string> ignored_changes;
  std::vector<std::string> too_large;  ///< "PATH sha256:… BYTES"; of a draft the path alone
  std::vector<LeftOut> left_out;       ///< sorted by path; the diff holds all the rest
  /// Changed by the user as well since the start, sorted: what the run began with is not known any
  /// more. The diff holds them against HEAD's file, or the user's where there is none.
  std::vector<std::string> conflicts;
  /// The user made the same of them meanwhile, sorted: no conflict, and in the diff as far as HEAD
  /// tells what they were.
  std::vector<std::string> already;
  std::vector<std::string> outward_links;  ///< "PATH -> TARGET" of links made that leave the tree
  std::vector<std::string> applies_to;     ///< of "start", "head", "index": those it applies to; a
                                           ///< draft's is not asked
  std::string base;                        ///< "start" or "head": what was diffed against
  std::string head_commit;    ///< at the start; "" where there is no repository or no commit
  std::string index_problem;  ///< why the index can't be read, or "": HEAD stood in for it
};

/// The touched files of a tree, by path.
using TouchedFiles = std::map<std::string, TreeEntry>;

}  // namespace sortie
