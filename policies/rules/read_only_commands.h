#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// Whether a word of a command, as operand or as the value of an option ("--file=…", "-f…"), may
/// lead into the kernel's own file systems when read in `workdir`: it lies in /proc, /sys or /dev
/// (but /dev/null), begins with one of them behind its last "..", or has a glob in the first
/// folder of an absolute path or behind "..".
bool word_reaches_kernel_folder(std::string_view word, const std::string& workdir);

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
