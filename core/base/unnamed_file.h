#pragma once

#include <filesystem>

#include "core/base/fd.h"

namespace sortie {

/// Opens a file without a name for reading and writing, on the file system of that folder; it is gone
/// with its last descriptor (open(2), O_TMPFILE). Where the file system has no such files it has the
/// name ".events-" and six letters for an instant.
/// @return  empty if it can't be made; errno says why
Fd unnamed_file(const std::filesystem::path& folder);

}  // namespace sortie
