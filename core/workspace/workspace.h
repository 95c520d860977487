#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/base/threads.h"
#include "core/files/files.h"
#include "core/workspace/mount_plan.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

class WorkTimes;

/// A path that a run changed, relative to the workspace.
struct ChangedPath {
  enum class Kind {
    added,
    deleted,
    modified,
    unreadable,       ///< a folder that commands can't list: they see nothing below it
    unreadable_file,  ///< a file that commands can't read
    removed_folder,   ///< a folder that the run removed, and the user changed something in it
  };
  /// How the user's own file at this path changed since the start.
  enum class Own {
    as_it_was,
    changed,       ///< changed, created or removed: its state at the start is unknown
    perhaps_gone,  ///< it does not exist, and its folder changed: it never existed, or was removed
  };
  std::string path;
  Kind kind = Kind::modified;
  Own own = Own::as_it_was;
  bool operator==(const ChangedPath&) const = default;
};

/// One side of a changed path, as git sees a file.
struct TreeEntry {
  unsigned mode = 0100644;  ///< 0100644, 0100755 or 0120000 (symlink)
  std::string content;      ///< the bytes, or the link's target
  bool operator==(const TreeEntry&) const = default;
};

/// The tree a run works on, kept apart from the user's own except with isolation none.
class Workspace {
 public:
  virtual ~Workspace() = default;
  Isolation isolation() const { return isolation_; }
  /// Why this isolation: "asked for", or why those before it did not work.
  const std::string& reason() const { return reason_; }
  const MountPlan& mount_plan() const { return plan_; }
  /// Paths that differ from the start, sorted: files and links; a folder only if it can't be
  /// listed, or if the run removed it and the user changed it. `view` is the root of the run's
  /// view.
  std::vector<ChangedPath> changed_paths(const Files& view,
                                         const CancelCheck& check_cancel = {}) const;
  /// The tree at the start: the user's own, which may have been changed since. With isolation none
  /// the start as it was, from what was kept of it.
  virtual const Files& start() const { return start_; }
  /// Whether start() is the start once the tree has changed, so that there are changes to be found.
  virtual bool keeps_start() const noexcept { return true; }
  /// Records when commands and tools work, if they work in the user's own tree; else null.
  virtual WorkTimes* work_times() noexcept { return nullptr; }
  /// Files of the user's own tree that commands work in with a name outside of it (hard links),
  /// absolute.
  virtual std::vector<std::filesystem::path> linked_outside() const { return {}; }
  /// Makes the record of the start, or takes that of an earlier run, unless that is done; to be called
  /// before anything changes the tree. @throws Error  as sortie::keep_start()
  void keep_record();
  const StartRecord& record() const { return record_; }
  /// The submodules whose changes get a diff of their own.
  const std::vector<SubmoduleStart>& submodules() const { return submodules_; }

 protected:
  /// With the record of the start, unless that is left for later. @throws Error
  Workspace(Isolation isolation, std::string reason, MountPlan plan,
            const WorkspaceOptions& options);
  /// Another tree over the same start as a run's.
  Workspace(Isolation isolation, MountPlan plan, const Workspace& run);
  /// A part of a tree, with a git state of its own and without submodules.
  Workspace(const Workspace& whole, StartRecord record);
  const DiskFiles& start_files() const { return start_; }

 private:
  virtual std::vector<ChangedPath> find_changes(const Files& view,
                                                const CancelCheck& check_cancel) const = 0;

  Isolation isolation_;
  std::string reason_;
  MountPlan plan_;
  StartRecord record_;
  std::vector<SubmoduleStart> submodules_;
  std::optional<WorkspaceOptions> unrecorded_{};  ///< what keep_record() needs
  DiskFiles start_;
};

}  // namespace sortie
