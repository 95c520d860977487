#pragma once

#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// When the content of a path was written; nothing if that is unknown.
using WrittenAt = std::function<std::optional<timespec>(const std::string& path)>;

/// Applies a diff to a tree that is at the start, with git's result: exactly the bytes of the diff,
/// no folder that it empties. Files have mode 644 or 755, or keep the start's permissions where the
/// diff does not change whether they are executable; nothing else of the run's tree is taken.
/// @param written  the files' modification times; unknown ones get the present time
/// @throws Error  ExitCode::environment
void write_effect(const DiffEffect& effect, DiskFiles& tree, const WrittenAt& written);

/// When the file at a path was changed last (ctime): nobody can set that, as the modification time
/// can be, so that a build tool sees that products of the start are older.
WrittenAt changed_in(const DiskFiles& run);

/// Dates these files to the present, so that nothing passes for newer than them; missing ones are
/// skipped. @throws Error
void date_anew(const DiskFiles& tree, const std::vector<std::string>& paths);

/// Removes whatever is at a path, a folder with all that is in it; links are not followed.
/// @throws Error
void remove_at(DiskFiles& tree, const std::string& path);

}  // namespace sortie
