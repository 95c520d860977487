#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "app/artifacts/found_output.h"
#include "core/base/fd.h"
#include "core/files/files.h"

namespace sortie {

/// What becomes of what is found in --out.
enum class Previous {
  nothing,    ///< there is no run
  discarded,  ///< removed
  kept,       ///< moved to OUT.prev
  resumed,    ///< this run goes on with it
  restored,   ///< this run goes on with it from its checkpoint: its state is not here, or torn
  returned,   ///< it is the outcome of this command too: nothing is changed
};

/// The file of a run's checkpoints: OUT/state/changes.tar; OUT/changes.tar where the state lies elsewhere.
std::filesystem::path checkpoint_file(const std::filesystem::path& out);
/// The checkpoint that a tree is being made from, as long as that is not done: OUT/restore.tar.
std::filesystem::path checkpoint_to_restore(const std::filesystem::path& out);

/// The folder of a run's artifacts, locked against a second run for as long as this object lives.
class OutputFolder {
 public:
  /// Creates or opens the folder and locks it. What is in it stays as it is.
  /// @throws Error  usage: not a folder, full or read-only disk, files that no run wrote; busy:
  ///                another process is using it (with its id)
  /// @param patience  for the end of that process
  explicit OutputFolder(const std::filesystem::path& path,
                        std::chrono::milliseconds patience = std::chrono::milliseconds(0));
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// In a process that was forked: the folder is its parent's, whose end unlocks it.
  void leave_to_parent() noexcept { lock_ = Fd(); }

  /// Where it is; after leave_path(), by the open folder itself.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Whether its path leads to another folder than at the start. From then on this object reaches the
  /// one of the start by its descriptor, so that nothing is written where somebody else wants it.
  /// @return  what has happened, in words; or ""
  std::string leave_path();
  const FoundOutput& found() const noexcept { return found_; }
  /// Prepares the folder for the run.
  /// @throws Error  usage: OUT.prev is no run's
  void take(Previous previous);
  /// Removes the artifacts of the end of the run that is resumed. The transcript, its blobs and the
  /// state stay, and what its stages have saved.
  void remove_end() const;
  /// What became of the user's tree that an earlier run here worked in and left: text_of(UndoneTree).
  const std::string& undone() const noexcept { return undone_; }
  /// Makes the folder for the run's own state: OUT/state, or, if that would be inside the workspace, a
  /// private folder in $TMPDIR that OUT/state links to. One that is there already is used again.
  std::filesystem::path make_state(const std::filesystem::path& workspace);
  /// Removes the state, also that of attempts.
  void remove_state() noexcept;
  /// Makes the folders of the name. With Synced::content the file is synced by sync(), or by the next
  /// one that is written with Synced::name, together with others.
  /// @return  the digest of the content: "sha256:…"
  std::string write(const std::string& name, std::string_view content,
                    Synced synced = Synced::name) const;
  /// Returns once what was written is on disk, with its names. @throws Error
  void sync() const;
  void remove(const std::string& name) const;
  /// Removes the diffs of a success.
  void remove_diffs() const;

 private:
  FoundOutput look() const;
  void lock(std::chrono::milliseconds patience);
  void clean() const;
  void clean_returned() const noexcept;
  void set_aside(bool keep);
  void undo_earlier();
  static void remove_state_below(const std::filesystem::path& folder) noexcept;
  void keep_checkpoint();
  void sync_contents() const;

  std::filesystem::path path_;
  Fd folder_;  ///< O_PATH
  FoundOutput found_;
  Fd lock_;
  mutable std::vector<Fd> unsynced_;  ///< files whose content is not on disk for certain
  std::string undone_;
};

}  // namespace sortie
