#pragma once

#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/disk_place.h"
#include "core/files/files.h"

namespace sortie {

/// Files of a tree on disk that are written and removed together or not at all.
///
/// First each content is written to a temporary file beside its place: a full disk or a read-only
/// folder fails here, before any change is visible. Then each is exchanged with the file that it
/// replaces (renameat2(RENAME_EXCHANGE)), and files to be removed are renamed: undoing that is
/// renaming back, which needs no space and restores the same files. Last the old files are removed.
/// That is also faster than renaming over them, since ext4 flushes a file that replaces another by
/// rename. Many files are processed in parallel.
class DiskReplacement {
 public:
  /// @param root  the open folder that paths are below
  explicit DiskReplacement(int root) : root_(root) {}
  /// @throws ToolError  after all was undone, "Failed to write file PATH: cause. No file was
  ///                    changed."; its cause() is that of the step
  void run(const std::vector<Replacement>& replacements);

 private:
  enum class State {
    untouched,
    staged,     ///< the new file lies beside its place
    appeared,   ///< a new file is in its place
    exchanged,  ///< the old file has the temporary name
    aside,      ///< the file to be removed has the temporary name
    rewritten,  ///< the file system can't exchange: the old file is in `saved`
  };
  /// The copy of a file or link that was overwritten.
  struct Saved {
    std::string content;  ///< a link's target
    struct stat status {};
  };
  struct Step {
    const Replacement& what;
    std::string folder;  ///< of the path, and its last name
    std::string name;
    std::string stage{};  ///< the folder of the temporary name: the nearest existing one
    std::string temporary{};
    bool replaces = false;
    State state = State::untouched;
    std::vector<std::string> made_folders{};  ///< parents before children
    Saved saved{};
  };

  using OpenFolder = disk::OpenFolder;
  struct Failure {
    const Step* step = nullptr;
    std::string cause;
    Cause kind = Cause::other;
  };
  using Act = void (DiskReplacement::*)(Step&, OpenFolder&) const;

  std::optional<Failure> perform_all();
  std::optional<Failure> do_in_parts(std::size_t first, std::size_t last, Act act);
  std::optional<Failure> do_part(std::size_t first, std::size_t last, Act act,
                                 std::atomic<bool>& failed);

  void stage(Step& step, OpenFolder& at) const;
  void perform(Step& step, OpenFolder& at) const;
  void clear_away(Step& step, OpenFolder& at) const;
  static void remove(Step& step, OpenFolder& at);
  static void replace(Step& step, OpenFolder& at);

  std::string undo_all();
  static void undo(Step& step, OpenFolder& at);
  static void take_folders_back(const Step& step, OpenFolder& at);
  static Saved save(const Fd& folder, const Step& step);
  static void restore(const Fd& folder, const Step& step);

  int root_;
  std::vector<Step> steps_;
};

}  // namespace sortie
