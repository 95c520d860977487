#pragma once

#include <set>
#include <string>
#include <string_view>
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

/// The line of a .gitignore that leaves out a path which, by its name, a compiler, a test runner or
/// a package manager has made: "__pycache__/" for "src/__pycache__/a.pyc"; "" for all others.
/// Names that people give to their own folders too ("build", "dist", "out") are none of these.
std::string ignore_line_for(std::string_view path);

/// Paths that one line would leave out.
struct BuildProducts {
  std::string ignore_line;
  std::vector<std::string> paths;
};
/// Groups in the order of their first paths.
std::vector<BuildProducts> find_build_products(const std::vector<std::string>& paths);

}  // namespace sortie
