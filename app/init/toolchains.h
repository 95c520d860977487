#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/init/toolchain.h"

namespace sortie {

/// The names that `sortie init` takes.
const std::vector<std::string>& toolchain_names();

/// The toolchains of a project by the files at its top, the one to take first. Reads, and runs
/// nothing; files that can't be read count as empty.
std::vector<Toolchain> find_toolchains(const std::filesystem::path& folder);

/// The toolchain of that name, as far as the project has its files.
/// @param name  one of toolchain_names()
Toolchain toolchain_of(const std::string& name, const std::filesystem::path& folder);

/// Projects in folders below that have a toolchain of their own: at most six, two levels down.
/// @return  paths below `folder`, each with the toolchain's name
std::vector<std::pair<std::filesystem::path, std::string>> find_projects_below(
    const std::filesystem::path& folder);

}  // namespace sortie
