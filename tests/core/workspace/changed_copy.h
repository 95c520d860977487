#pragma once

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"

namespace sortie::test {

/// A tree, mostly a repository, of which a copy is changed.
struct ChangedCopy {
  Bench bench;
  std::unique_ptr<Workspace> workspace;

  /// @param below  the workspace within the repository
  void open(const std::string& below = "") {
    bench.options.root = bench.root / below;
    if (below.empty()) bench.options.root = bench.root;
    bench.options.isolation = Isolation::copy;
    workspace = open_workspace(bench.options);
  }
  std::filesystem::path tree() const { return workspace->mount_plan().source; }
  Diff diff(const DiffOptions& options = {}) const {
    const DiskFiles view(Fd(::open(tree().c_str(), O_PATH | O_CLOEXEC)));
    return make_diff(*workspace, view, bench.options.root, options);
  }
  void put(const Tree& files) { become(bench.root, {}, files); }
  void change(const Tree& files) { become(tree(), {}, files); }
};

inline std::vector<std::string> paths_of(const Diff& diff) {
  std::vector<std::string> names;
  for (const auto& file : diff.files) names.push_back(file.path);
  return names;
}

}  // namespace sortie::test
