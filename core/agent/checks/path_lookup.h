#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/files.h"

namespace sortie {

/// Says whether a path that a message names is in the workspace. The tree is looked through once,
/// as far as that is needed: for a tree that has changed another one is made.
class PathLookup {
 public:
  /// @param view       the workspace as the run has it now
  /// @param workspace  where the model believes it to be; absolute
  /// @param is_hidden  of an absolute path: nothing is told of what the policy hides
  PathLookup(const Files& view, std::filesystem::path workspace,
             std::function<bool(const std::filesystem::path&)> is_hidden)
      : view_(view), workspace_(std::move(workspace)), is_hidden_(std::move(is_hidden)) {}

  /// Whether it is there, or nobody can say that it is not: a path outside the workspace, a hidden
  /// one, one in a tree too large to be looked through. "a.py" and "util/a.py" also mean
  /// "src/util/a.py".
  bool may_exist(const std::string& path);

 private:
  bool stands_at(const std::filesystem::path& path) const;
  void list();

  const Files& view_;
  std::filesystem::path workspace_;
  std::function<bool(const std::filesystem::path&)> is_hidden_;
  bool listed_ = false;
  bool whole_ = false;               ///< all of the tree is in `tree_`
  std::vector<std::string> tree_{};  ///< all paths, each with a slash before it
};

}  // namespace sortie
