#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// What was done about an application of changes that was cut off.
struct Recovery {
  enum class What { nothing, rolled_back, completed };
  What what = What::nothing;
  std::vector<std::string> paths{};  ///< those that it changes
  /// "an --apply was cut off in /x: its 3 files are as they were before"; "" for nothing.
  std::string text(const std::filesystem::path& folder) const;
};

/// Looks for changes in this folder that a killed process was applying, and takes them back, or
/// leaves them if they were complete. Does nothing, at the price of one system call, where there
/// are none. A folder of that name which no sortie has made is left alone.
/// @throws Error  busy: that process is alive; conflict: somebody has changed the files since;
///                environment
Recovery recover_tree(const std::filesystem::path& folder);

/// recover_tree() for a folder and those above it, up to `top`.
std::vector<std::string> recover_trees(std::filesystem::path folder,
                                       const std::filesystem::path& top);

/// Why no changes could be applied in this folder, before any are there: it can't be written, or
/// something that no sortie has made has the name of ApplyFolder. "" if nothing is known against it.
std::string apply_problem(const std::filesystem::path& folder);

}  // namespace sortie
