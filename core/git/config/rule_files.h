#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// libgit2 opens the ignore and attribute files on the way to a path without checking their type:
/// it would block on a pipe.
/// @param toplevel  root of the working tree
/// @param path      relative to it
/// @param name      ".gitignore" or ".gitattributes"
/// @return          the first of these files that is a special file; "" for none
std::filesystem::path blocking_rule_file(const std::filesystem::path& toplevel,
                                         const std::string& path, const char* name);

/// The text of an ignore or attribute file; nothing if it can't be read without blocking.
std::optional<std::string> read_rule_file(const std::filesystem::path& path);

/// Ignore rules without the lines that libgit2 (1.5) never gets past: with a vertical tab or a form
/// feed. Their paths count as not ignored.
std::string readable_rules(std::string_view rules);

/// Whether reading the file could block: a pipe, a device other than /dev/null, a file of the
/// kernel (/proc, /sys). Links are followed; false if the file does not exist.
bool reading_may_block(const std::filesystem::path& path);

}  // namespace sortie
