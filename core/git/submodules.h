#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// A submodule of the repository around a folder, by the index, or by HEAD where there is none.
struct Submodule {
  std::string path;  ///< below the folder: "libs/a"; of a submodule in it "libs/a/inner"
  bool checked_out = false;
  std::string refused{};  ///< why its repository is not used, for people; "" if it is
};

/// Finds all submodules below a folder, those of submodules that are checked out too; sorted by path.
/// No setting of a repository decides what is one, and no link is followed.
/// @param folder  absolute, links resolved
/// @throws Error  ExitCode::environment for a repository that can't be read
std::vector<Submodule> find_submodules(const std::filesystem::path& folder);

/// Those that a list of paths and git patterns ("libs/*", whose `*` takes slashes too) names. A path
/// without a wildcard names one submodule, and not those in it.
/// @throws Error  ExitCode::usage: an entry that names none (with the nearest), or one that is not
///                checked out; ExitCode::environment: a repository that is refused
std::vector<Submodule> listed_submodules(const std::filesystem::path& folder,
                                         const std::vector<std::string>& list);

}  // namespace sortie
