#pragma once

#include <filesystem>

#include "core/git/git_repository.h"
#include "core/workspace/apply/path_changes.h"

namespace sortie {

/// How git converts the files of a working tree, by its attributes and settings as they are now.
/// Paths are relative to the toplevel.
/// @param repository  outlives the conversion; one without a handle converts nothing
TreeConversion conversion_of(const FoundRepository& repository);

}  // namespace sortie
