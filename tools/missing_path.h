#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/base/files.h"

namespace sortie {

/// Paths that a tool neither reads nor names, relative to the workspace. May be called by several
/// threads at once.
using HiddenPaths = std::function<bool(const std::filesystem::path&)>;

/// That nothing stands at a path, for the model: which folder of it is the last that exists, and
/// the name there that was most likely meant.
std::string missing_path(const Files& files, const std::filesystem::path& path,
                         const HiddenPaths& hidden);

}  // namespace sortie
