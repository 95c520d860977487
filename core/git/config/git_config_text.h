#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// One line of a git configuration file.
struct GitSetting {
  std::string key;    ///< as libgit2 returns it: section and name in lower case, "filter.Own.clean"
  std::string value;  ///< "" if there is none
  bool bare = false;  ///< without "=", which means true
  bool operator==(const GitSetting&) const = default;
};

/// Parses a git configuration file exactly like git's own config.c, without following includes.
/// libgit2 opens included files, even pipes, while it parses, and its grammar differs slightly.
/// @return  the settings in file order; nothing if git would refuse the file
std::optional<std::vector<GitSetting>> parse_git_config(std::string_view text);

/// The text of a file with only these settings, in this order, without comments.
std::string write_git_config(const std::vector<GitSetting>& settings);

/// Why libgit2 can't read a repository's format, for people: "its object ids are SHA-256"; "" if it
/// can.
///
/// Source: gitrepository-layout(5), git-config(1) "extensions.*".
std::string unsupported_format(const std::vector<GitSetting>& settings);

}  // namespace sortie
