#pragma once

#include <filesystem>
#include <string>

#include "core/base/fd.h"

namespace sortie {

/// A folder in the user's tree that takes what sortie has to take away there: whoever wrote it,
/// nothing of it is lost. Made when the first thing is kept, ignored by git, never removed.
///
/// All names in it are flat: "docs/CODEOWNERS" is "docs-CODEOWNERS.found".
class KeptAside {
 public:
  /// @param tree  absolute, links resolved
  explicit KeptAside(std::filesystem::path tree) : tree_(std::move(tree)) {}

  /// Renames what stands at a path of the tree to PATH.found. No link on the way is followed.
  /// @return  false where nothing stands there
  /// @throws Error  ExitCode::integrity: it can't be moved, and is left
  bool move(const std::filesystem::path& path);
  /// The name for a copy of how a path was at the start: PATH.start, absolute, nothing there yet.
  /// @throws Error  as move()
  std::filesystem::path place_for_start(const std::filesystem::path& path);
  /// Its name in the tree; "" as long as nothing is kept.
  std::string name() const { return folder_.filename().string(); }

 private:
  void make_folder();
  std::string free_name(const std::filesystem::path& path, const char* ending) const;

  std::filesystem::path tree_;
  std::filesystem::path folder_;
  Fd open_;  ///< folder_
};

}  // namespace sortie
