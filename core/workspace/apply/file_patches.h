#pragma once

#include <string_view>
#include <vector>

#include "core/workspace/diff/file_patch.h"

namespace sortie {

/// Reads a diff that may come from anybody. The patches refer to its text.
/// @throws Error  ExitCode::integrity: it has another form than take_patch() reads, or names a path
///                that path_problem() refuses, one path twice, or a file and another one below it
std::vector<FilePatch> read_patches(std::string_view diff);

}  // namespace sortie
