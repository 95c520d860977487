#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/fd.h"
#include "core/workspace/own_tree.h"

namespace sortie {

/// How another tree shows the user's own one, in which the run works.
enum class Beside {
  overlay,  ///< an overlay on it, with FOLDER/upper and FOLDER/work
  copy,     ///< a copy, FOLDER/tree
  itself,   ///< the tree itself, while an OwnTreeAside is open
};

/// Another tree over the same start as a run that works in the user's own tree. It has what the run
/// changed until put_start_in() is called; its changes are judged against the start.
/// @param folder  exists; for an overlay its folders are made, but nothing is mounted
/// @throws Error  ExitCode::environment: a tree too large to be copied, or a full disk
std::unique_ptr<Workspace> make_beside_own_tree(const OwnTreeWorkspace& run, Beside kind,
                                                const std::filesystem::path& folder);

/// Makes the tree the start, its ignored files too.
/// @param root   of the other tree
/// @param leave  paths that stay as the run has them
/// @throws Error  ExitCode::environment
void put_start_in(const OwnTreeWorkspace& run, const Fd& root,
                  std::vector<std::filesystem::path> leave);

}  // namespace sortie
