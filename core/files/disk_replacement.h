#pragma once

#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/disk_place.h"
#include "core/files/files.h"

namespace sortie {

/// Files of a tree on disk that are written and removed together or not at all.
///
/// First every content is written beside its place, which is where a disk is full or a folder may
/// not be written; nothing can be seen of it yet. Then each changes names with the file that it
/// replaces (renameat2(RENAME_EXCHANGE)), and what is to go takes another name: to undo that is to
/// rename back, which needs no space and gives back the very files. Last the old ones go. That is
/// also faster than renaming over them: ext4 writes out a file at once that replaces another so.
/// Parts of many files are written, exchanged and cleared away at the same time.
class DiskReplacement {
 public:
  /// @param root  the open folder that paths are below
  explicit DiskReplacement(int root) : root_(root) {}
  /// @throws ToolError  after all was undone, "Failed to write file PATH: cause. No file was
  ///                    changed."
  void run(const std::vector<Replacement>& replacements);

 private:
  enum class State {
    untouched,
    staged,     ///< the new file lies beside its place
    appeared,   ///< where nothing was
    exchanged,  ///< what was there has the temporary name
    aside,      ///< what is to go has the temporary name
    rewritten,  ///< the file system can't exchange: what was there is in `saved`
  };
  /// A file or link that is gone from the disk.
  struct Saved {
    std::string content;  ///< of a link: its target
    struct stat status {};
  };
  struct Step {
    const Replacement& what;
    std::string folder;  ///< of the path, and its last name
    std::string name;
    std::string stage{};  ///< the folder of the temporary name: the nearest one there was
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
