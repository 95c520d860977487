#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sortie {

/// A commit of a repository on this machine that runs work on.
struct Checkout {
  std::filesystem::path git;  ///< the repository; absolute
  std::string commit;         ///< as the manifest names it
  std::optional<int> depth{};

  /// The name of its folder: the same for all runs of the same commit.
  std::string name() const;
};

/// Makes the work tree of a commit, or finds it there. It has a repository of its own with that commit and
/// what came before, and nothing that came later: an agent can't look the answer up.
///
/// Runs git, for half an hour at the most; another process that makes the same one is waited for as
/// long. Call it in a process with one thread. Git reads no settings of the user and no hooks.
/// @param folder  of all checkouts; is made
/// @return  the folder of the tree
/// @throws Error  usage: no repository, or no such commit; environment: git failed
std::filesystem::path make_checkout(const Checkout& checkout, const std::filesystem::path& folder);

}  // namespace sortie
