#pragma once

#include <string>
#include <vector>

#include "core/git/config/git_config_text.h"

namespace sortie {

/// What of a repository's format libgit2 can't read, for people: "its object ids are SHA-256"; ""
/// where it reads all of it.
///
/// Source: gitrepository-layout(5), git-config(1) "extensions.*".
std::string format_obstacle(const std::vector<GitSetting>& settings);

}  // namespace sortie
