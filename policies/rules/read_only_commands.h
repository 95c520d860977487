#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// Whether a word of a command, as operand or as the value of an option ("--file=…", "-f…"), may
/// lead into the kernel's own file systems from `workdir`: it is in /proc, /sys or /dev (except
/// /dev/null), begins with one of them after its last "..", or has a glob in the first folder of an
/// absolute path or after "..".
bool word_reaches_kernel_folder(std::string_view word, const std::string& workdir);

/// Why a command is not of the class `read-only`.
struct NotReadOnly {
  std::string part;    ///< the word that is refused
  std::string reason;  ///< for people and the model
  bool known = false;  ///< the command is in the class, but not with these words
};

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
