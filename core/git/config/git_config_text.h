#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// One line of a git configuration file.
struct GitSetting {
  std::string key;    ///< as libgit2 gives it: section and name in lower case, "filter.Own.clean"
  std::string value;  ///< "" where there is none
  bool bare = false;  ///< without "=", which means true
  bool operator==(const GitSetting&) const = default;
};

/// Reads the text of a git configuration file by the grammar of git's own config.c, byte for
/// byte, and follows no include: libgit2 opens included files while it parses, a pipe among them,
/// and its grammar is not quite git's.
/// @return the settings in the order written; nothing where git would refuse the file
std::optional<std::vector<GitSetting>> parse_git_config(std::string_view text);

/// The text of a file with these settings, in their order, and nothing else: no comments.
std::string write_git_config(const std::vector<GitSetting>& settings);

/// Why libgit2 can't read a repository's format, for people: "its object ids are SHA-256"; "" where
/// it can.
///
/// Source: gitrepository-layout(5), git-config(1) "extensions.*".
std::string format_obstacle(const std::vector<GitSetting>& settings);

}  // namespace sortie
