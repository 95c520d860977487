#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/rules/read_only_commands.h"
#include "policies/shell/option_reader.h"
#include "policies/shell/read_only_table.h"

namespace sortie {

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
