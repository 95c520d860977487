#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "core/git/git_repository.h"

namespace sortie {

/// How many commits two commits differ by.
struct GitDistance {
  std::size_t ahead = 0;   ///< commits reachable only from the first
  std::size_t behind = 0;  ///< commits reachable only from the second
  bool operator==(const GitDistance&) const = default;
};

/// Counts like `git rev-list --left-right --count FIRST...SECOND`. This takes long if the histories
/// are far apart or unrelated.
///
/// @param check_cancel  called for each commit; its exceptions propagate
/// @return              nothing if a commit is missing, as in a shallow clone
std::optional<GitDistance> git_distance(git_repository& repository, const git_oid& first,
                                        const git_oid& second,
                                        const std::function<void()>& check_cancel);

}  // namespace sortie
