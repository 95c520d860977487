#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/artifacts/found_output.h"
#include "core/base/fd.h"

namespace sortie {

enum class FoundRun { refuse_unfinished, discard };

/// The folder of a run's artifacts, locked against a second run for as long as this object lives.
class OutputFolder {
 public:
  /// Creates or reuses the folder: a finished run moves to OUT.prev, an unfinished one is an error,
  /// unless it is to be discarded.
  /// @throws Error  usage: not a folder, full or read-only disk, files that no run wrote, an
  ///                unfinished run; busy: another process is using it (with its id)
  OutputFolder(const std::filesystem::path& path, FoundRun found);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Makes the folder for the run's own state: OUT/state, or, if that would be inside the workspace, a
  /// private folder in $TMPDIR that OUT/state links to.
  std::filesystem::path make_state(const std::filesystem::path& workspace);
  /// Removes the state.
  void remove_state() noexcept;
  /// @return  the digest of the content: "sha256:…"
  std::string write(const std::string& name, std::string_view content) const;
  void remove(const std::string& name) const;

 private:
  FoundOutput look() const;
  void lock();
  void set_aside(FoundRun found);

  std::filesystem::path path_;
  Fd lock_;
};

}  // namespace sortie
