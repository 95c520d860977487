#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"

namespace sortie {

/// The protected plain names, in any letter case, that lead through a link, at the start or now,
/// and not to the same content by the same links. A name that links lead to nothing is as one that
/// is not there. Names that no link is on the way of, and globs, are left to others.
/// @param places  where the trees are for commands: absolute links to one of them are followed
/// @param names   relative; of a policy's paths.protect
/// @return        as they are in `names`
std::vector<std::string> names_led_elsewhere(const Files& start, const Files& now,
                                             const std::vector<std::filesystem::path>& places,
                                             const std::vector<std::string>& names);

}  // namespace sortie
