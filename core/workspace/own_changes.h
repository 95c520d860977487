#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/base/threads.h"

namespace sortie {

inline constexpr std::size_t kMostOwnChanges = 1000;
inline constexpr std::size_t kAllOwnChanges = std::numeric_limits<std::size_t>::max();

/// Paths of the user's own tree that somebody wrote to, created or removed after a time, sorted. In
/// a git working tree only those that git would store, and that are not as in HEAD: a checkout of
/// the same commit, or a build, changes nothing. Without git all, with "/" after a folder that had
/// something added or removed. No more than `most`: then there may be others.
/// @param root   absolute, links resolved
/// @param time   by the clock of file stamps (ctime), nanoseconds
/// @param apart  absolute paths that don't count, with all below them: the run's own outputs
/// @param check_cancel  called for each file
/// @throws Error  ExitCode::environment: a folder or the repository can't be read
std::vector<std::string> own_changes_since(const std::filesystem::path& root, std::int64_t time,
                                           const std::vector<std::filesystem::path>& apart = {},
                                           std::size_t most = kMostOwnChanges,
                                           const CancelCheck& check_cancel = {});

}  // namespace sortie
