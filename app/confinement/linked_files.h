#pragma once

#include <filesystem>
#include <vector>

namespace sortie {

/// Files of a folder that have another name outside of it (hard links), so that who writes to them
/// writes there.
struct LinkedFiles {
  std::vector<std::filesystem::path> paths;  ///< absolute, in their order
  bool complete = true;  ///< false: the folder has more entries than are looked at
};

/// Looks at the first 20,000 entries below it; `.git` is passed over. A file all of whose names are
/// among them is none.
/// @param folder  absolute
LinkedFiles find_linked_files(const std::filesystem::path& folder);

}  // namespace sortie
