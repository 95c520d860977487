#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/files/files.h"
#include "core/workspace/diff/diff_text.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace.h"

namespace sortie {

struct DiffOptions {
  DiffBase base = DiffBase::automatic;
  int context_lines = 3;
  bool renames = true;
  /// Ignored paths to include in the diff, as git pathspecs: "dist", "*.log".
  std::vector<std::string> include;
  /// New files that by their signs a build made.
  Products products = Products::leave_out;
  bool lfs = false;  ///< takes in files of git-lfs, with the bytes of the tree
  /// Paths that patches of the agent wrote: never products.
  std::set<std::string> patched{};
  std::uint64_t max_file_size = 10ull << 20;
  /// Limit for all changed files together, both sides: they are held in memory, and compressing
  /// binary files takes time, while sparse files would cost the agent nothing.
  std::uint64_t max_bytes = 256ull << 20;
  /// The folder that the diff is of, within the workspace: "libs/a/" for a submodule. `include` is
  /// about paths of the workspace.
  std::string within{};
  std::string place{};  ///< the workspace's absolute path, looked for in new files; "": not
  std::string only{};   ///< limits the diff to this file or folder; "": all
  /// A draft is only shown: it is not verified by applying it, and fewer pairs of files are
  /// compared to find renames.
  bool draft = false;
  bool effect = false;  ///< keeps what the diff does, not only its text
  /// A folder for a file without a name, in which a long text is kept; "": it stays in memory.
  std::filesystem::path scratch{};
  CancelCheck check_cancel{};
};

/// One side of a file in a diff, without its content.
struct DiffSide {
  unsigned mode = 0100644;  ///< as in TreeEntry
  std::string sha256;       ///< hex, of the content
  std::uint64_t bytes = 0;
};

/// Paths are relative to the workspace.
struct DiffFile {
  std::string path;
  std::string old_path;  ///< the source of a rename, else ""
  ChangedPath::Kind kind = ChangedPath::Kind::modified;
  int added_lines = 0;
  int deleted_lines = 0;
  // These are not filled in for a draft.
  std::optional<DiffSide> before{};  ///< nothing: the diff adds it
  std::optional<DiffSide> after{};   ///< nothing: the diff deletes it
  bool in_head = false;              ///< HEAD has `before`
  /// The content of `before` if HEAD does not have it; nothing if it is too large to be kept.
  std::optional<std::string> base_content{};
};

/// A changed path that a diff can't contain.
struct LeftOut {
  enum class Why {
    lfs,         ///< filter=lfs applies: git stores other bytes than the tree
    submodule,   ///< in a submodule
    unreadable,  ///< a file or folder without read permission
    bad_name,    ///< git refuses such a path ("git~1")
    too_much,    ///< all changes together are larger than a diff may be
    link_loop,   ///< in the place of a link that led to itself
    missing,     ///< HEAD's object for it is not in the repository: nothing is fetched
    no_diff,     ///< no diff could be made at all
    git_folder,  ///< a `.git` that the run made: never part of a git tree. Not a failure
    product,     ///< made by a build, by its signs. Not a failure
  };
  std::string path;
  Why why = Why::unreadable;
  std::string detail{};  ///< for people; may be ""
  bool operator==(const LeftOut&) const = default;
};
/// "lfs", "submodule", "unreadable", "bad-name", "too-much", "link-loop", "missing", "no-diff",
/// "git-folder", "product".
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
    case LeftOut::Why::link_loop:
      return "link-loop";
    case LeftOut::Why::missing:
      return "missing";
    case LeftOut::Why::no_diff:
      return "no-diff";
    case LeftOut::Why::git_folder:
      return "git-folder";
    case LeftOut::Why::product:
      return "product";
  }
  return "";
}

/// A changed file that is larger than DiffOptions::max_file_size.
struct TooLarge {
  std::string path;
  std::string detail{};  ///< "sha256:… BYTES", "deleted"; in a draft ""
  bool operator==(const TooLarge&) const = default;
};

/// The touched files of a tree, by path.
using TouchedFiles = std::map<std::string, TreeEntry>;

/// What applying a diff to the start does, as it was proved. Paths are relative to the workspace.
struct DiffEffect {
  TouchedFiles makes;
  std::set<std::string> removes;
  bool operator==(const DiffEffect&) const = default;
};

/// The changes of a run, as git sees a tree.
///
/// Submodules that the task lists have diffs of their own, which may be applied in them. All lists,
/// except `files` and `applies_to`, and the effect are about the whole workspace.
struct Diff {
  /// git's extended unified format; "" if nothing changed. If the workspace is a folder of a
  /// repository, the paths begin at the repository's toplevel: git apply (is_toplevel_relative in
  /// its source) expects that in every folder, and silently skips others.
  DiffText text;
  std::vector<DiffFile> files;  ///< sorted by path
  std::vector<std::string> ignored_changes;
  /// Files of patches among these, which only ignore rules of the run hide.
  std::vector<std::string> patched_but_ignored;
  std::vector<TooLarge> too_large;
  std::vector<LeftOut> left_out;  ///< sorted by path; the diff contains all the rest
  /// Paths that the user changed as well since the start, sorted: their original content is
  /// unknown. The diff compares them with HEAD's file, or the user's if there is none.
  std::vector<std::string> conflicts;
  /// Paths that the user changed in the same way, sorted: not conflicts, and in the diff as far as
  /// HEAD has their original content.
  std::vector<std::string> already;
  /// Paths whose line ends git changes: what the diff makes has other bytes than the run's file.
  std::vector<std::string> line_ends;
  /// Paths, as in the text, whose new content in the diff is what git stores and writes to the
  /// working tree in another form: with other line ends, `ident`, another encoding.
  std::set<std::string> converted;
  std::vector<std::string> lfs;            ///< files of git-lfs, with DiffOptions::lfs
  std::vector<std::string> outward_links;  ///< "PATH -> TARGET" of new links out of the tree
  /// New files that contain the absolute path of the workspace.
  std::vector<std::string> bound_to_place;
  /// The blob ids of renamed files at the start, by their old path as in the text: the text does not
  /// have them if only the path has changed.
  std::map<std::string, std::string> moved_ids;
  std::vector<std::string> applies_to;  ///< which of "start", "head", "index" it applies to; not
                                        ///< checked for a draft
  std::string base;                     ///< "start" or "head": what the diff compares with
  std::string head_commit;              ///< at the start; "" without a repository or a commit
  DiffEffect effect{};                  ///< with DiffOptions::effect
  std::string submodule{};         ///< that it is a diff of, relative to the workspace; "": of none
  std::vector<Diff> submodules{};  ///< sorted by path; those that have changes in the diff
  std::uint64_t bytes = 0;         ///< of all contents, both sides
  std::string prefix;              ///< the workspace within its repository: "" or "sub/folder/"
  std::string index_problem;       ///< why the index can't be read, or "": then HEAD replaced it
};

}  // namespace sortie
