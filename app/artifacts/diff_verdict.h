#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// Whether it makes a run fail that a path is left out: a `.git` can be in no tree of git's.
bool is_loss(const LeftOut& one);

/// What a diff can't hold and has to, in words for the agent and the operator; "" where it holds
/// all. The agent can mend it: by taking the change back, or making another one.
std::string undiffable_changes(const Diff& diff);

/// What is said of a diff at the end, beside its text: links that leave the tree, `.git` folders
/// that are not in it, changes that the workspace has already, an index that could not be read,
/// build products.
/// @param by_verification  paths that a verification made, none of the agent's calls
std::vector<std::string> diff_warnings(const Diff& diff,
                                       const std::set<std::string>& by_verification);

}  // namespace sortie
