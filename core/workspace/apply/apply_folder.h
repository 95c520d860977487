#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/json/json.h"
#include "core/workspace/apply/tree_path.h"

namespace sortie {

/// One path in the journal. What is in its place on disk is known by inode numbers, so that no
/// step has to be written down while it is done.
struct JournalChange {
  struct Old {
    ino_t inode = 0;  ///< of the file in its place before
    ino_t kept = 0;   ///< of the one that is kept: the same for a hard link
  };
  struct New {
    ino_t inode = 0;
    std::string sha256;  ///< of its content, or its target: to tell a file that was edited since
  };
  /// A folder above a removed file, which may have to be made again.
  struct Folder {
    std::string path;
    mode_t mode = 0755;
    uid_t user = 0;
    gid_t group = 0;
  };
  std::string path;
  std::optional<Old> old{};
  std::optional<New> made{};
  std::vector<Folder> folders{};         ///< parents first
  std::vector<std::string> new_folders;  ///< those that are made for it, parents first
};

/// When changes count as wanted although their journal does not say so: a run's result.json is the
/// last that it writes, and has this id and `applied: true` then.
struct ApplyMark {
  std::filesystem::path result{};  ///< absolute; "": only the journal counts
  std::string run_id{};
};

/// What the journal says.
struct Journal {
  ApplyMark mark;
  std::vector<JournalChange> changes;
  bool ready = false;     ///< everything lies in the folder: the tree may have been changed
  bool finished = false;  ///< all changes were made, or all undone: only the folder is left
};

/// The folder in which one application of changes prepares the new files, keeps the old ones and has
/// its journal. Locked while it is open.
///
///     .gitignore   "*"
///     seal         an empty file
///     journal      JSON lines: {"sortie_apply":1,"seal":…,"mark":…}, {"changes":[…]},
///                  {"finished":true}; each is on disk before what it allows is done
///     new.N old.N  the new and the old file of change N
///
/// A repository could bring a folder of this name, and its journal would move files about. So the
/// journal has the inode number and the time of the last change (ctime) of the seal: nobody can set
/// these, and no checkout or archive brings them along.
class ApplyFolder {
 public:
  enum class State {
    none,
    ours,     ///< `journal()` holds
    empty,    ///< ours, or nobody's: nothing in it matters
    foreign,  ///< something else
  };

  /// Makes the folder, with its seal and the first line of the journal.
  /// @throws Error  busy: another process has it; environment: it can't be made, or something else
  ///                is there
  static ApplyFolder make(int root, const ApplyMark& mark);
  /// Opens the one that is there.
  /// @throws Error  busy: its process is alive; environment: it can't be read
  static ApplyFolder open(int root);

  State state() const noexcept { return state_; }
  const Journal& journal() const noexcept { return journal_; }
  int get() const noexcept { return folder_.get(); }
  /// Appends the line with the changes, synced with all that is in the folder.
  void write_ready(std::vector<JournalChange> changes);
  void write_finished();
  /// Removes it, in an order that leaves a folder of state `ours` or `empty` at each instant. What
  /// can't be removed stays; the next start tries again.
  void remove() noexcept;

 private:
  explicit ApplyFolder(int root) : root_(root) {}
  void append(const Json& line);
  void read();
  Json seal() const;

  int root_;
  Fd folder_;
  Fd file_;  ///< the journal
  State state_ = State::none;
  Journal journal_;
};

/// "new.3", "old.3".
std::string name_in_folder(const char* kind, std::size_t change);

}  // namespace sortie
