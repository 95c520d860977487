#pragma once

#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "policies/sandbox/profile.h"

namespace sortie {

/// What the run's view of the repository depends on; paths are absolute, links resolved.
struct GitViewInputs {
  std::filesystem::path workspace;
  std::filesystem::path out{};         ///< --out; "" for none
  std::filesystem::path home{};        ///< private in the view
  std::vector<std::string> hide{};     ///< the policy's paths.hide
  std::vector<std::string> protect{};  ///< globs of paths.protect, relative to the workspace
  bool namespaces = true;              ///< else nothing can be mounted
  bool in_place = false;               ///< commands work in the user's own tree
  bool sandboxed = true;               ///< else commands see everything anyway
  bool operator==(const GitViewInputs&) const = default;
};

/// The results for the view.
struct FoundGitView {
  GitView view;
  std::vector<std::filesystem::path> hidden{};         ///< around the workspace, by paths.hide
  std::vector<std::filesystem::path> hidden_inside{};  ///< the same in it, relative to it
  /// In the workspace, relative to it: matches of the globs of paths.protect, and links.
  std::vector<std::filesystem::path> protected_inside{};
  std::vector<std::filesystem::path> links{};
  std::vector<std::filesystem::path> sockets{};    ///< in everything that is shown
  std::vector<std::filesystem::path> git_files{};  ///< TreeFinds::git_files of it
  std::string incomplete{};                        ///< what may have been missed, for people; or ""
  std::string
      problem{};  ///< why commands don't find their repository, for people; "" where they do
};

/// The repository around the workspace as far as it lies outside: the working tree above it, a
/// linked worktree's or submodule's folders, alternates; and the configurations that hold
/// credentials. Never HOME, /tmp or a folder above them. One walk over all of it and over
/// the workspace finds sockets, other repositories and what paths.hide names, at every depth, in
/// any letter case. What paths.hide names around the workspace is looked for at every depth of that
/// working tree, in each of its folders, and what git tracks is not hidden, as in the workspace.
FoundGitView find_git_view(const GitViewInputs& inputs);

/// Looks for it in a thread while the rest of a run's inputs is made ready: in a large tree that takes
/// longer than all else of a start.
class EarlyGitView {
 public:
  /// Begins. Nothing may be written to the workspace until take(), but to `inputs.out`. Not for a copy
  /// that is made meanwhile: it may have what came after the search.
  explicit EarlyGitView(GitViewInputs inputs);
  EarlyGitView(const EarlyGitView&) = delete;
  EarlyGitView& operator=(const EarlyGitView&) = delete;

  /// Waits until it has looked. At once where it could not begin.
  void wait() const;
  /// Waits for what was found. Looks once more if that was for other inputs, or was taken before. No thread
  /// of it is left then.
  FoundGitView take(const GitViewInputs& inputs);

 private:
  const GitViewInputs inputs_;
  std::future<FoundGitView> found_;  ///< its destructor waits for the thread
};

}  // namespace sortie
