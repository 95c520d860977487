#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/rules/read_only_checks.h"

namespace sortie {

/// Checks a direct argv against the class `read-only`: commands that only read, whatever their
/// operands, without the options that make them do more. Options are read as the program reads
/// them; ambiguous ones are refused.
///
/// @param argv       argv[0]: the bare name
/// @param workspace  absolute
/// @param workdir    absolute
/// @return nothing if it is read-only
std::optional<NotReadOnly> why_not_read_only(std::span<const std::string> argv,
                                             const std::filesystem::path& workspace,
                                             const std::filesystem::path& workdir);

/// The names of the class's commands, sorted.
std::vector<std::string> read_only_command_names();

}  // namespace sortie
