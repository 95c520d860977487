#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sortie {

/// Where the repository around a folder lies, found by our own walk before git or libgit2 follow
/// anything: a hostile folder could make them read a foreign repository.
///
/// The files of the repository must lie in the working tree or in the repository itself. A `.git`
/// that is a file or a link may point outside of the working tree only if its target points back:
/// by `gitdir` for a linked worktree, by `core.worktree` for a submodule. Everything, alternates
/// included, may also lie in the folders of let_git_read(). A repository with a pipe or a device
/// among its files is refused: libgit2 would open it and block forever.
struct GitPlace {
  std::filesystem::path toplevel;      ///< the folder that contains `.git`; "" if there is none
  std::filesystem::path git_dir{};     ///< links resolved; "" if it is refused
  std::filesystem::path common_dir{};  ///< for a linked worktree the main one's; else git_dir
  std::vector<std::filesystem::path> alternates{};  ///< object folders of other repositories
  std::string refused{};  ///< why it is not used, for people; "" if it is used
};

/// Searches the folder and its parents, as git does. Opens only small regular files.
/// @param folder  absolute, links resolved
GitPlace find_git_place(const std::filesystem::path& folder);

/// While one exists, find_git_place() caches its results, as other functions on repositories do: for
/// the start of a run, while nothing of the run writes and only one thread calls it. They may be
/// nested.
class GitPlacesOnce {
 public:
  GitPlacesOnce();
  /// Which of the outermost ones exists, counted from 1; 0: none. What was cached for another one
  /// does not count.
  static unsigned current() noexcept;
  /// Where something else that was found for a folder can be kept until the outermost one ends; null
  /// if there is none.
  static std::shared_ptr<const void>* kept_for(const std::filesystem::path& folder);
  GitPlacesOnce(const GitPlacesOnce&) = delete;
  GitPlacesOnce& operator=(const GitPlacesOnce&) = delete;
  ~GitPlacesOnce();
};

/// Sets folders outside of the repository that its alternates and links may lead to: the policy's
/// `paths.read`. Like libgit2's options they apply to the process: call this before any repository
/// is searched, and before there are threads.
/// @param folders  absolute, links resolved
/// @param lenders  the same for alternates only: folders whose repositories the task could have
///                 named as its workspace
void let_git_read(std::vector<std::filesystem::path> folders,
                  std::vector<std::filesystem::path> lenders = {});

}  // namespace sortie
