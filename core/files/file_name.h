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

}  // namespace sortie
