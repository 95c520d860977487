#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

/// A thread that is kept: its runs are folders in its own, HOME/threads/ID/RUN_ID.
struct KeptThread {
  std::string id;
  std::filesystem::path folder;
  std::vector<std::string> runs{};  ///< their ids, the newest first
};

/// The threads of `exec` on disk, below $CODEX_HOME, else $SORTIE_HOME, else $XDG_STATE_HOME/sortie,
/// else ~/.local/state/sortie. What it makes has mode 700.
class ThreadStore {
 public:
  /// Finds the folder; makes nothing.
  ThreadStore();

  /// Where all threads are; "" if there is no place for them.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// Makes the folder of a run.
  /// @param workspace  of the run, by which newest() looks
  /// @param out        the run's --out; "" if it writes into that folder
  /// @return           the folder; "" with `why` if it can't be written
  std::filesystem::path begin(const std::string& thread, const std::string& run,
                              const std::filesystem::path& workspace,
                              const std::filesystem::path& out, std::string& why) const;
  std::optional<KeptThread> find(const std::string& id) const;
  /// The thread of the newest run. @param workspace  of its last run; "": any
  std::optional<KeptThread> newest(const std::filesystem::path& workspace) const;
  /// The transcripts of its runs, the newest first.
  static std::vector<std::filesystem::path> transcripts(const KeptThread& thread);
  /// Copies the transcript of a run that has written it to an --out of its own.
  static void keep(const std::filesystem::path& out, const std::filesystem::path& folder);
  /// Removes the folder of a run that did not begin, and its thread if it has no other; nothing of a
  /// folder that has files.
  static void drop(const std::filesystem::path& run) noexcept;

 private:
  std::filesystem::path folder_;
  std::string why_not_;
};

}  // namespace sortie
