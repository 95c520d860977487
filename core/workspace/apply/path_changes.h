#pragma once

#include <sys/stat.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/threads.h"
#include "core/workspace/apply/file_patches.h"
#include "core/workspace/apply/merge_changes.h"
#include "core/workspace/apply/present_entry.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// What a path of a tree is to become.
struct PathChange {
  std::string path;
  std::optional<TreeEntry> before;  ///< what is there now
  std::optional<TreeEntry> after;   ///< nothing: it is removed
  struct stat status {};            ///< of `before` on disk; all zero if it was not read from there
  /// What git stores for them, if the diff has that, and the tree other bytes.
  std::optional<std::string> stored_before{};
  std::optional<std::string> stored_after{};
};

/// The changes that a diff makes to a tree, and what stands against it.
struct PlannedChanges {
  std::vector<PathChange> changes;     ///< sorted by path; without those that are there already
  std::vector<std::string> conflicts;  ///< "PATH: why", sorted
};

/// Reads what is at a path of the tree.
using ReadPresent = std::function<PresentEntry(const std::string& path)>;

/// How the files of a working tree differ from what git stores for them (stored_bytes.h).
struct TreeConversion {
  using Convert = std::function<std::string(const std::string& path, const std::string& content)>;
  Convert to_git{};
  Convert to_tree{};
  /// Whether the new content of a path in the diff is what git stores, and not that of a tree.
  std::function<bool(const std::string& path, const std::string& content)> is_stored{};
};

struct PlanOptions {
  /// The blob ids of files that the diff only moves, by their old path: their content is compared,
  /// too. Files that are not in it may have any content.
  std::map<std::string, std::string> moved_ids{};
  /// The SHA-256 of such files at the end, by their new path, as they are in the diff: one that is
  /// found at its new path is there already.
  std::map<std::string, std::string> moved_ends{};
  /// The content that a file had when the diff was made, by its blob id: then files that have
  /// changed meanwhile are merged (three-way). Not set: they are conflicts.
  BaseContent base{};
  /// Of a working tree; not set: the tree has what git stores.
  std::optional<TreeConversion> conversion{};
  CancelCheck check_cancel{};
};

/// Works out what the patches make of a tree whose touched files are still what the diff says. A
/// path that has its new content already is no conflict.
/// @throws Error  ExitCode::integrity: the text does not make what it says
PlannedChanges plan_changes(const std::vector<FilePatch>& patches, const ReadPresent& present,
                            const PlanOptions& options = {});

/// Puts changes and conflicts together, and finds what is in the way of new files.
class ChangePlan {
 public:
  explicit ChangePlan(const ReadPresent& present) : present_(present) {}
  /// What is at the path now, read once. Valid until the next call.
  const PresentEntry& at(const std::string& path);
  void remove(const std::string& path);
  /// @param stored  what git stores for its content, if the diff has that
  void make(const std::string& path, TreeEntry entry, std::optional<std::string> stored = {});
  /// The content that git stores for what is at the path now, if the diff has that.
  void was_stored_as(const std::string& path, std::string content);
  void conflict(const std::string& path, const std::string& why);
  /// The whole plan; the object is used up.
  PlannedChanges finish();

 private:
  void check_new(const std::string& path, const std::optional<TreeEntry>& after);

  const ReadPresent& present_;
  std::map<std::string, PresentEntry> read_;
  std::map<std::string, std::optional<TreeEntry>> after_;  ///< nothing: removed
  std::set<std::string> removed_;                          ///< paths whose old file may go
  std::map<std::string, std::string> stored_before_;
  std::map<std::string, std::string> stored_after_;
  std::map<std::string, std::string> conflicts_;
};

}  // namespace sortie
