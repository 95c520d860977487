#pragma once

#include <filesystem>
#include <string>

#include "core/config/fields.h"

namespace sortie {

/// `text`, relative to the task file's folder, without "." and ".." and a slash at its end.
std::filesystem::path absolute_path(const std::filesystem::path& folder, const std::string& text);

/// A path, absolute after loading.
FieldValue path_value(std::filesystem::path& target, const std::filesystem::path& folder);

}  // namespace sortie
