#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/git/git_repository.h"

namespace sortie {

/// How far two commits are apart.
struct GitDistance {
  std::size_t ahead = 0;   ///< commits that lead to the first alone
  std::size_t behind = 0;  ///< commits that lead to the second alone
  bool operator==(const GitDistance&) const = default;
};

/// Walks back from both to where they meet, as `git rev-list --left-right --count FIRST...SECOND`.
/// That takes long where the histories are far apart or have nothing in common.
///
/// @param pace  called with each commit; what it throws goes through
/// @return      nothing where a commit on the way is not there, as in a shallow clone
std::optional<GitDistance> git_distance(git_repository& repository, const git_oid& first,
                                        const git_oid& second, const std::function<void()>& pace);

}  // namespace sortie
