#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// Whether leaving the path out makes the run fail. A `.git` folder, which git can't store, and build
/// products do not.
bool is_loss(const LeftOut& one);

/// The changes that the diff can't hold, in words for the agent and the operator; "" if there are
/// none. The agent can undo them, or make other changes instead.
/// @param large_files_fail  whether files that are too large count
std::string undiffable_changes(const Diff& diff, bool large_files_fail = true);

/// Warnings about a diff: links out of the tree, `.git` folders that are left out, changes that the
/// workspace has already, an unreadable index, build products.
/// @param by_verification  paths that a verification made, not a call of the agent
/// @param patched          paths that patches of the agent wrote
std::vector<std::string> diff_warnings(const Diff& diff,
                                       const std::set<std::string>& by_verification,
                                       const std::set<std::string>& patched);

/// The lines that a diff adds and removes, without those of its headers.
struct LineCounts {
  std::int64_t added = 0;
  std::int64_t removed = 0;
};
LineCounts count_lines(std::string_view diff);

/// Paths that one .gitignore line would leave out.
struct BuildProducts {
  std::string ignore_line;
  std::vector<std::string> paths;
};
/// Groups in the order of their first paths.
std::vector<BuildProducts> find_build_products(const std::vector<std::string>& paths);

}  // namespace sortie
