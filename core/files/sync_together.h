#pragma once

#include <filesystem>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// Syncs files, or folders for the names in them, at the same time: a disk that waits for one of them
/// waits for all.
/// @return 0 or the errno of one that failed
int sync_together(const std::vector<Fd>& files) noexcept;

/// Syncs a file, and its folder for the names in it, at the same time. @throws Error
void sync_with_name(const std::filesystem::path& file);

}  // namespace sortie
