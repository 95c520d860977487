#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/secrets/redact.h"

namespace sortie {

/// The credentials in the configuration of the repository around a folder, with what it includes,
/// its worktrees' and its submodules' own, and in other files of repositories: passwords in
/// addresses, headers (http.*.extraHeader), keys that are named as secrets (*.token, *.password …),
/// what a credential helper says inline or keeps in a file that is named (`store --file`), what a
/// command line says (`sshpass -p`, `Bearer`). All of them are named "git-config". What can't be
/// read has none.
/// @param git_files  of repositories elsewhere in the tree (TreeFinds::git_files)
std::vector<Secret> git_config_secrets(const std::filesystem::path& folder,
                                       const std::vector<std::filesystem::path>& git_files);

/// A configuration file that holds credentials, and what commands are shown instead of it.
struct CleanGitConfig {
  std::filesystem::path file;  ///< absolute, links resolved
  std::string text;            ///< the same settings without credentials; no comments
};

/// The files in which git_config_secrets() finds something.
std::vector<CleanGitConfig> clean_git_configs(const std::filesystem::path& folder,
                                              const std::vector<std::filesystem::path>& git_files);

}  // namespace sortie
