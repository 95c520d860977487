#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A path for a message: one line, valid UTF-8, cut if it is very long.
std::string path_text(const std::filesystem::path& path);

/// Whether a relative path has no ".", ".." or empty part, so that it is normal already: a
/// hundredth of the cost of std::filesystem::path::lexically_normal().
bool is_plain_path(std::string_view path) noexcept;

/// Whether it names a descriptor of this process rather than a file, as a shell's <(command) does:
/// "/dev/fd/63", "/proc/self/fd/0", "/dev/stdin".
bool names_descriptor(std::string_view path) noexcept;

/// A random name: ".sortie-<16 hex digits>.tmp".
std::string temporary_name();
/// Whether a name has that form: of a write in progress, or one that was killed.
bool is_temporary_name(std::string_view name) noexcept;

/// Paths for a message: "a, b and 3 more".
std::string some_of(const std::vector<std::string>& paths, std::size_t shown = 10);

/// Makes a private folder in the first usable one of $TMPDIR, /tmp, /var/tmp, /dev/shm and HOME;
/// links resolved. The caller removes it.
/// @param name  the prefix of its name
/// @throws Error  ExitCode::environment if none of them can be used
std::filesystem::path make_temporary_folder(const std::string& name);

/// Whether a path looks like one from make_temporary_folder(name).
bool is_temporary_folder(const std::filesystem::path& path, const std::string& name);

}  // namespace sortie
