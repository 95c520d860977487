#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// A program that a run adds in a folder of PATH, where another one of its name is found without it.
struct ShadowedProgram {
  std::string added;  ///< in the workspace
  std::filesystem::path other;
};

/// The commands of a verification would start what the agent wrote in place of what they name.
///
/// A program that the start has is the project's, whatever the run makes of it.
///
/// @param effect     of the diff
/// @param start      the tree at the start
/// @param workspace  absolute
/// @param search     PATH, as the commands have it
/// @return           sorted by their paths
std::vector<ShadowedProgram> shadowed_programs(const DiffEffect& effect, const Files& start,
                                               const std::filesystem::path& workspace,
                                               std::string_view search);

/// Why nothing is verified then, or "": a sentence for the agent.
std::string describe_shadowed(const std::vector<ShadowedProgram>& programs);

}  // namespace sortie
