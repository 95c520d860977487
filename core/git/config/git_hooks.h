#pragma once

#include <filesystem>
#include <vector>

namespace sortie {

/// Where the hooks of the repository around a folder really lie, as far as that is not its own
/// `hooks`: what `.git/hooks`, or a hook in it, is a link to, and the folder that `core.hooksPath`
/// names with what is linked there. Whoever writes there has the user's next `git commit` run it.
/// @param folder  absolute, links resolved
/// @return        links resolved, sorted
/// @throws Error  ExitCode::environment for a configuration that can't be read
std::vector<std::filesystem::path> hooks_elsewhere(const std::filesystem::path& folder);

}  // namespace sortie
