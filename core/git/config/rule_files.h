#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sortie {

/// libgit2 opens the ignore and attribute files on the way to a path as they are: of a pipe it
/// would wait for the other end, without a limit.
/// @param toplevel  of the repository's working tree
/// @param path      relative to it
/// @param name      ".gitignore" or ".gitattributes"
/// @return          the first of them that is neither a regular file nor a folder; "" for none
std::filesystem::path blocking_rule_file(const std::filesystem::path& toplevel,
                                         const std::string& path, const char* name);

/// The text of an ignore or attribute file; nothing where none can be read without waiting.
std::optional<std::string> read_rule_file(const std::filesystem::path& path);

/// Whether to read it could wait without end: a pipe, a device other than /dev/null, a file of the
/// kernel's own (/proc, /sys). Links are followed; what is not there is no such file.
bool may_be_waited_for(const std::filesystem::path& path);

}  // namespace sortie
