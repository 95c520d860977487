#pragma once

#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"

namespace sortie {

// How a later command knows a run's files as those that were made here: the kernel gives each file
// a birth time that nobody can set, and that nobody who packs a folder can know beforehand. Where the
// file system has none, the time of the last change of a file that is never changed takes its place.

/// The mark of a run in its state folder: what its key is made of, its keeper, and where it was made.
class RunMark {
 public:
  /// Reads it; nothing in it is known if there is none.
  explicit RunMark(const std::filesystem::path& state);
  /// @param keeper  id of the process that all of the run's processes die with
  static void write(const std::filesystem::path& state, const Json& key_parts, int keeper,
                    Synced synced = Synced::name);
  /// Removes it: the run can't go on with what the folder holds.
  static void remove(const std::filesystem::path& state) noexcept;

  /// What the run's key is made of; null if unknown.
  const Json& key_parts() const { return mark_["parts"]; }
  /// Whether the folder was made as this one: it is no copy, and did not come with anything.
  bool is_own() const noexcept { return own_; }
  /// Whether it is also of this start of the machine, so that all that was written to it is there.
  bool is_whole() const;
  /// Waits until the processes of the run are gone: they could still write.
  /// @param out  for the message
  /// @throws Error  ExitCode::busy
  void wait_for_processes(const std::filesystem::path& out) const;

 private:
  Json mark_;
  bool own_ = false;
};

/// What the first record says of the transcript's own file; "" if nothing is known of it.
/// @param out  the run's folder, with its transcript
std::string transcript_seal(const std::filesystem::path& out);

}  // namespace sortie
