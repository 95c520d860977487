#pragma once

#include <string>

#include "core/base/error.h"

namespace sortie {

/// What came of a path that somebody named: usage where it was named wrongly (ENOENT, EACCES and
/// the like), environment where the machine can't do it: a full or broken disk.
/// @param what    what was tried: "--out /x"
/// @param number  an errno
Error path_error(const std::string& what, int number);

}  // namespace sortie
