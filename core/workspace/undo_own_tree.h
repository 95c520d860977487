#pragma once

#include <filesystem>
#include <string>

#include "core/workspace/put_back.h"

namespace sortie {

/// Whether the state folder is that of a run that began to work in the user's own tree.
bool has_own_tree(const std::filesystem::path& state);

/// Says so of the state folder of a run whose changes stay, however it ends: has_own_tree() is false
/// then. @throws Error
void never_undo(const std::filesystem::path& state);

/// Whether undoing has begun, or is done: then there is nothing that such a run could go on with.
bool undo_has_begun(const std::filesystem::path& state);

/// Paths that somebody else changed since the run with this state folder began: last written while
/// it did not work, and not as at the start; what git ignores doesn't count. Sorted.
/// @param apart  absolute paths that don't count either, with all below them
/// @throws Error
std::vector<std::string> changed_by_others(const std::filesystem::path& state,
                                           const std::vector<std::filesystem::path>& apart);

/// Puts the tree back as it was when the run with this state folder began: contents, links, modes,
/// owners and times of files, folders; what the run made is removed. What git ignores stays as it is,
/// and so does a file that was last changed while the run did not work: somebody else did it.
///
/// Can be repeated: killed in the middle, or after a failure, the next call does the rest. Once all is
/// done, has_own_tree() is false. Call it only while no command
/// of the run is left.
/// @throws Error  what was kept can't be read
UndoneTree undo_own_tree(const std::filesystem::path& state);

/// In one sentence, for people; "" if nothing was to be put back.
std::string text_of(const UndoneTree& undone);

}  // namespace sortie
