#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// Where the repository around a folder lies, found by a walk of our own, before git or libgit2
/// follow anything: whoever wrote the folder could have them read a repository that is not its own.
///
/// Files that the repository is read from lie in the working tree or in the repository itself. A
/// `.git` that is a file or a link may lead outside the working tree only where what it leads to
/// says so too: of a linked worktree `gitdir` points back at it, of a submodule `core.worktree`.
/// All of it, alternates too, may besides lie in what let_git_read() names. A repository with a
/// pipe or a device among its files is refused: libgit2 would open it, and wait without end.
struct GitPlace {
  std::filesystem::path toplevel;      ///< the folder that holds `.git`; "" where there is none
  std::filesystem::path git_dir{};     ///< links resolved; "" where it is refused
  std::filesystem::path common_dir{};  ///< of a linked worktree the main one's; else git_dir
  std::vector<std::filesystem::path> alternates{};  ///< object folders of other repositories
  std::string refused{};  ///< why it is not used, for people; "" where it is
};

/// Looks at the folder and its parents, as git does. Opens small regular files only.
/// @param folder  absolute, links resolved
GitPlace find_git_place(const std::filesystem::path& folder);

/// As long as one lives, find_git_place() looks at each folder once: for the start of a run, while
/// nothing of the run writes and one thread asks. Several count as one, until the last has gone.
class GitPlacesOnce {
 public:
  GitPlacesOnce();
  GitPlacesOnce(const GitPlacesOnce&) = delete;
  GitPlacesOnce& operator=(const GitPlacesOnce&) = delete;
  ~GitPlacesOnce();
};

/// Folders beyond the repository that its alternates and links may lead to: the policy's
/// `paths.read`. As libgit2's own options they hold for the process: call it before any repository
/// is looked for, and before there are threads.
/// @param folders  absolute, links resolved
/// @param lenders  likewise, for alternates alone: folders whose repositories the task could have
///                 named as its workspace anyhow
void let_git_read(std::vector<std::filesystem::path> folders,
                  std::vector<std::filesystem::path> lenders = {});

}  // namespace sortie
