#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/secrets/redact.h"

namespace sortie {

/// The credentials in the configuration of the repository around a folder, its includes, worktrees
/// and submodules, and in other files of repositories: passwords in URLs, headers
/// (http.*.extraHeader), keys with names of secrets (*.token, *.password …), inline credential
/// helpers and their files (`store --file`), and command lines (`sshpass -p`, `Bearer`). All are
/// named "git-config". Unreadable files are skipped.
/// @param git_files  files of repositories elsewhere in the tree (TreeFinds::git_files)
std::vector<Secret> git_config_secrets(const std::filesystem::path& folder,
                                       const std::vector<std::filesystem::path>& git_files);

/// A configuration file with credentials, and the text that commands see instead.
struct CleanGitConfig {
  std::filesystem::path file;  ///< absolute, links resolved
  std::string text;            ///< the same settings without credentials; no comments
};

/// The files in which git_config_secrets() finds something.
std::vector<CleanGitConfig> clean_git_configs(const std::filesystem::path& folder,
                                              const std::vector<std::filesystem::path>& git_files);

}  // namespace sortie
