#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A path for a message: one line, valid UTF-8, cut where it is very long.
std::string path_text(const std::filesystem::path& path);

/// Whether a relative path has neither "." nor ".." nor an empty part, and so is normal already: to
/// find that out costs a hundredth of std::filesystem::path::lexically_normal().
bool is_plain_path(std::string_view path) noexcept;

/// Whether it names a descriptor of this process rather than a file, as a shell's <(command) does:
/// "/dev/fd/63", "/proc/self/fd/0", "/dev/stdin".
bool names_descriptor(std::string_view path) noexcept;

/// A name that no other file of the folder has: ".sortie-<16 hex digits>.tmp".
std::string temporary_name();
/// Whether a name is of that form: a write in progress has it, and a killed one leaves it.
bool is_temporary_name(std::string_view name) noexcept;

/// Paths for a message: "a, b and 3 more".
std::string some_of(const std::vector<std::string>& paths, std::size_t shown = 10);

/// A new folder that nobody else can enter, in the first of $TMPDIR, /tmp, /var/tmp, /dev/shm and
/// HOME where one can be made; links resolved. It is the caller's to remove.
/// @param name  what its name begins with
/// @throws Error  ExitCode::environment where none of them will do
std::filesystem::path make_temporary_folder(const std::string& name);

/// Whether a path could be one that make_temporary_folder(name) made.
bool is_temporary_folder(const std::filesystem::path& path, const std::string& name);

}  // namespace sortie
