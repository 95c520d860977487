#pragma once

#include <filesystem>
#include <vector>

#include "core/base/redact.h"

namespace sortie {

/// The credentials in the configuration of the repository around a folder, with what it includes,
/// its worktree's and its submodules' own: passwords in addresses, headers (http.*.extraHeader),
/// keys that are named as secrets (*.token, *.password …), what a credential helper says inline.
/// All of them are named "git-config". What can't be read has none.
std::vector<Secret> git_config_secrets(const std::filesystem::path& folder);

}  // namespace sortie
