#pragma once

#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/base/threads.h"
#include "core/files/files.h"
#include "core/workspace/mount_plan.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// A path that a run changed, relative to the workspace.
struct ChangedPath {
  enum class Kind {
    added,
    deleted,
    modified,
    unreadable,       ///< a folder that commands can't list: they see nothing of what is below it
    unreadable_file,  ///< one that commands can't read
    removed_folder,   ///< a folder that the run removed, and in which the user changed something
  };
  /// What became meanwhile of the user's own file at this path.
  enum class Own {
    as_it_was,
    changed,       ///< written to, made or removed: what it was at the start is not known
    perhaps_gone,  ///< none is there, and its folder was written to: either it never was, or it
                   ///< went
  };
  std::string path;
  Kind kind = Kind::modified;
  Own own = Own::as_it_was;
  bool operator==(const ChangedPath&) const = default;
};

/// One side of a changed path, as git sees a file.
struct TreeEntry {
  unsigned mode = 0100644;  ///< 0100644, 0100755 or 0120000 (symlink)
  std::string content;      ///< bytes, or the link's target
  bool operator==(const TreeEntry&) const = default;
};

/// The tree a run works on, kept apart from the user's own.
class Workspace {
 public:
  virtual ~Workspace() = default;
  Isolation isolation() const { return isolation_; }
  /// Why this isolation: "asked for", or what did not work about those before it.
  const std::string& reason() const { return reason_; }
  const MountPlan& mount_plan() const { return plan_; }
  /// Paths that differ from the start, sorted: files and links, folders by what they hold; a folder
  /// itself only where it can't be listed, or the user wrote to one that the run removed.
  /// `view` is the root of the view as the run saw it.
  std::vector<ChangedPath> changed_paths(const Files& view, const CancelCheck& pace = {}) const;
  /// The tree as it was at the start: the user's own, of which nobody knows yet what was written to
  /// meanwhile.
  const Files& start() const { return start_; }
  const StartRecord& record() const { return record_; }

 protected:
  /// Makes the record of the start, or takes the one that a run before left. @throws Error
  Workspace(Isolation isolation, std::string reason, MountPlan plan,
            const WorkspaceOptions& options);
  const DiskFiles& start_files() const { return start_; }

 private:
  virtual std::vector<ChangedPath> find_changes(const Files& view,
                                                const CancelCheck& pace) const = 0;

  Isolation isolation_;
  std::string reason_;
  MountPlan plan_;
  StartRecord record_;
  DiskFiles start_;
};

}  // namespace sortie
