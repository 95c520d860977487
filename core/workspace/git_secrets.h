#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/redact.h"

namespace sortie {

/// The credentials in the configuration of the repository around a folder, with what it includes,
/// its worktrees' and its submodules' own, and that of repositories below the folder: passwords in
/// addresses, headers (http.*.extraHeader), keys that are named as secrets (*.token, *.password …),
/// what a credential helper says inline. All of them are named "git-config". What can't be read
/// has none.
std::vector<Secret> git_config_secrets(const std::filesystem::path& folder);

/// A configuration file that holds credentials, and what commands are shown instead of it.
struct CleanGitConfig {
  std::filesystem::path file;  ///< absolute, links resolved
  std::string text;            ///< the same settings without credentials; no comments
};

/// Of all those files, the ones that git_config_secrets() finds something in.
std::vector<CleanGitConfig> clean_git_configs(const std::filesystem::path& folder);

}  // namespace sortie
