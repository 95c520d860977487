#pragma once

#include <optional>
#include <string>

#include "core/base/fd.h"

namespace sortie {

/// What tells, without reading a file, that nothing in a tree was written to: a digest over its
/// paths and over what the kernel says of its files and links, `.git` left out, which no command of
/// a run can write. Of folders only their names and permissions count, so that a temporary file
/// that has come and gone does not.
/// @param root  the tree's root
/// @return      nothing where it can't be told: a folder that can't be listed, or nested too deep
std::optional<std::string> tree_stamp(const Fd& root);

}  // namespace sortie
