#pragma once

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/work_times.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

namespace sortie::test {

/// A bench whose workspace is the tree itself.
struct OwnBench : Bench {
  OwnBench() { options.isolation = Isolation::none; }

  std::unique_ptr<Workspace> open() const { return open_workspace(options); }
  /// What the run does, while it works.
  void run(Workspace& workspace, const std::function<void()>& work) const {
    const WorkTimeGuard guard(*workspace.work_times());
    work();
  }
  DiskFiles view() const {
    return DiskFiles(Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  }
  std::string diff(const Workspace& workspace) const {
    return std::string(make_diff(workspace, view(), root, {}).text.view());
  }
  void git(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"git", "-c", "user.name=a", "-c", "user.email=a@b"};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto said = run_program(argv, root);
    BOOST_REQUIRE_MESSAGE(said.status == 0, said.output);
  }
  void commit_all() const {
    git({"init", "-q"});
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "one"});
  }
  std::size_t kept_copies() const {
    const auto kept = std::filesystem::directory_iterator(start_place(options.state).kept());
    return static_cast<std::size_t>(std::distance(begin(kept), end(kept)));
  }
};

/// All that a tree holds: kinds, modes, links, times of files, contents.
inline std::string everything(const std::filesystem::path& root) {
  return run_program({"sh", "-c",
                      "find . -path ./.git -prune -o -printf '%p %y %m %l\n' | sort; "
                      "find . -path ./.git -prune -o -type f -printf '%p %T@ %n\n' | sort; "
                      "find . -path ./.git -prune -o -type f -print | sort | xargs -r "
                      "sha256sum"},
                     root)
      .output;
}

inline void put(const std::filesystem::path& file, const std::string& content) {
  std::filesystem::create_directories(file.parent_path());
  put_file(file, content);
}

}  // namespace sortie::test
