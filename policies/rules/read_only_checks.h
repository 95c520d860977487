#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/shell/option_reader.h"
#include "policies/shell/read_only_table.h"

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

/// Whether an absolute folder is in /proc, /sys or /dev, or the way to it passes through them.
bool is_in_kernel_folder(const std::string& folder);

// The checks of the class `read-only` that read_only_commands.cpp chooses from, by a row's `how`.
// Each takes the words behind the command's name, and returns nothing if they are read-only.

using CheckedWords = std::span<const std::string>;

std::optional<NotReadOnly> refuse_word(std::string_view part, std::string_view reason);

/// @param folder  the working folder, absolute
/// @param reader  says which words are no paths; may be null
std::optional<NotReadOnly> check_paths(CheckedWords words, const std::string& folder,
                                       const OptionReader* reader);

std::optional<NotReadOnly> check_git(const ReadOnlyCommand& git, CheckedWords words,
                                     const std::string& folder);
std::optional<NotReadOnly> check_sed(const ReadOnlyCommand& row, CheckedWords words,
                                     const std::string& folder);
std::optional<NotReadOnly> check_awk(CheckedWords words, const std::string& folder);
std::optional<NotReadOnly> check_jq(CheckedWords words, const std::string& folder);

/// The options of a row How::listed, or of such a git subcommand, which `reader` has read.
std::optional<NotReadOnly> check_listed(const ReadOnlyCommand& row, CheckedWords words,
                                        const OptionReader& reader);

}  // namespace sortie
