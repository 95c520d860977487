#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/shell/read_only_options.h"

namespace sortie {

/// Why a command is not of the class `read-only`.
struct NotReadOnly {
  std::string part;    ///< the word that it is about
  std::string reason;  ///< in words
  bool known = false;  ///< the command is of the class, but not when called like this
};

/// Judges a direct argv against the class `read-only`: commands that only read, whatever their
/// operands, with the options that make them do more refused one by one. Options are read as the
/// program reads them; what can't be read with certainty is refused.
///
/// @param argv       argv[0]: the bare name
/// @param workspace  absolute
/// @param workdir    absolute
/// @return nothing where it is read-only
std::optional<NotReadOnly> why_not_read_only(std::span<const std::string> argv,
                                             const std::filesystem::path& workspace,
                                             const std::filesystem::path& workdir);

/// The commands of the class, in a stable order: for messages.
std::vector<std::string> read_only_command_names();

}  // namespace sortie
