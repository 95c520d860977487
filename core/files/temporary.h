#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// A new folder that nobody else can enter, in the first of $TMPDIR, /tmp, /var/tmp, /dev/shm and
/// HOME where one can be made; links resolved. It is the caller's to remove.
/// @param name  what its name begins with
/// @throws Error  ExitCode::environment where none of them will do
std::filesystem::path make_temporary_folder(const std::string& name);

/// Whether a path could be one that make_temporary_folder(name) made.
bool is_temporary_folder(const std::filesystem::path& path, const std::string& name);

}  // namespace sortie
