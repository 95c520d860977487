#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/pace.h"
#include "core/files/files.h"
#include "core/workspace/mount_plan.h"

namespace sortie {

enum class Isolation { automatic, overlay, copy, none };
/// "overlay", "copy", …
const char* name_of(Isolation isolation) noexcept;

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

/// What git had of a workspace at the start of its run, kept in the state folder as a small
/// repository of its own: what the user does to theirs meanwhile does not show in it.
struct StartRecord {
  std::filesystem::path folder;    ///< its working tree: ignore and attribute files
  std::filesystem::path toplevel;  ///< of the user's repository; the workspace where it has none
  bool has_repository = false;
  std::vector<std::filesystem::path> objects;  ///< folders of the user's objects
  std::int64_t began = 0;  ///< by the clock that stamps files (ctime), nanoseconds
};

/// The tree a run works on, kept apart from the user's own.
class Workspace {
 public:
  virtual ~Workspace() = default;
  virtual Isolation isolation() const = 0;
  /// Why this isolation: "asked for", or what did not work about those before it.
  virtual const std::string& reason() const = 0;
  virtual MountPlan mount_plan() const = 0;
  /// Paths that differ from the start, sorted: files and links, folders by what they hold; a folder
  /// itself only where it can't be listed, or the user wrote to one that the run removed.
  /// `view` is the root of the view as the run saw it.
  std::vector<ChangedPath> changed_paths(const Files& view, const Pace& pace = {}) const {
    return find_changes(view, pace);
  }
  /// The tree as it was at the start; the user's own, in overlay mode.
  virtual const Files& start() const = 0;
  virtual const StartRecord& record() const = 0;

 private:
  virtual std::vector<ChangedPath> find_changes(const Files& view, const Pace& pace) const = 0;
};

struct WorkspaceOptions {
  std::filesystem::path root;   ///< absolute, links resolved
  std::filesystem::path out;    ///< --out, absolute; may lie inside root
  std::filesystem::path state;  ///< where upper, work or the copy go (outside root)
  Isolation isolation = Isolation::automatic;
  std::uint64_t copy_limit = 2ull << 30;  ///< bytes
  bool namespaces = true;                 ///< whether the keeper can mount (found by probing)
  /// Tries an overlay plan for real: mounts it in a throw-away keeper, reads the top levels,
  /// writes through it. Returns "" or why it does not work.
  std::function<std::string(const MountPlan&)> probe_overlay;
  /// Paths that commands may not read, relative to the root. A copy in which nothing can be covered
  /// is made without them; the diff says nothing of them.
  std::function<bool(const std::string& path)> hidden = {};
  /// Not tried beforehand: whoever mounts it sees.
  bool overlay_assumed = false;
};

/// The folders of the workspace that a run's own output is in, relative to it: --out, and the run
/// before it that was moved to `OUT.prev`.
std::vector<std::filesystem::path> output_folders(const WorkspaceOptions& options);

/// Picks the isolation. @throws Error with ExitCode::environment, reason and remedy, where a mode
/// asked for by name can't be had, or none can.
std::unique_ptr<Workspace> open_workspace(const WorkspaceOptions& options);

}  // namespace sortie
