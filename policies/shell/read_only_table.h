#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/shell/option_reader.h"

namespace sortie {

/// A command of the class `read-only`, or a git subcommand ("git log").
struct ReadOnlyCommand {
  /// How its words are checked (policies/rules/read_only_commands.cpp).
  enum class How {
    any,      ///< any options
    options,  ///< all options but the refused ones
    listed,   ///< the options of `forms`, spelled out, and no others
    find,
    sed,
    awk,
    jq,
    test,
    command,
    version,  ///< one word that asks for the version
    syntax,   ///< a shell's -n FILE
    git
  };
  /// How a listed row's short options are written.
  enum class Letters {
    clustered,     ///< "-ab", "-nVALUE"
    values_apart,  ///< "-ab", "-n VALUE": the value is the next word even within a cluster
    single         ///< "-a -b", "-n VALUE", "-n12": there are no clusters
  };
  static constexpr std::size_t kAnyNumber = 1000000;

  std::string_view name;
  How how = How::any;
  bool counts_operands = false;  ///< its effect depends on the number or position of operands
  std::span<const RefusedOption> refused{};
  OptionForms forms{};  ///< for How::options, How::listed and git subcommands

  // For How::listed.
  Letters letters = Letters::clustered;
  bool options_first = false;  ///< behind the first operand each word is one
  std::size_t most_operands = kAnyNumber;
  std::string_view operands_begin{};  ///< if not empty: an operand's first byte is one of these
  std::string_view operands_with{};   ///< if not empty: operands need one of these options
  std::string_view no_word_begins{};  ///< bytes that begin no word at all
  /// A git subcommand's own subcommands, of which one comes first.
  std::string_view subcommands{};
  bool bare = false;           ///< without a subcommand, options alone are allowed
  std::string_view instead{};  ///< what to send instead of what is refused
};

/// The parts of the table.
std::span<const ReadOnlyCommand> read_only_plain();
std::span<const ReadOnlyCommand> read_only_listed();
std::span<const ReadOnlyCommand> read_only_git();

/// The table of the class, documented in docs/read-only-class.md.
std::span<const ReadOnlyCommand> read_only_commands();

/// The options of a listed row as people write them: "-a", "-n VALUE", "--name", "--name=VALUE".
std::vector<std::string> listed_options(const ReadOnlyCommand& row);

/// @param name  "rg", "git", "git log"
/// @return      null if it is not in the class
const ReadOnlyCommand* find_read_only(std::string_view name);

/// Why a glob among the words of such a command can't be checked: it may expand to any file name,
/// even "--pre=x".
/// @param name  the command's bare name
/// @param glob  the word as written, quotes resolved
/// @return "" if any expansion is fine
std::string why_no_glob(std::string_view name, std::string_view glob);

/// The same for a glob whose place among the words matters: the program of awk, sed or jq, git's
/// subcommands.
/// @param words  behind the command's name
/// @param at     the glob's index in `words`
std::string why_no_glob_at(std::string_view name, std::span<const std::string> words,
                           std::size_t at);

/// Whether each expansion of the glob begins with a literal character other than '-', so that it
/// can't be an option.
bool begins_literally(std::string_view glob);

}  // namespace sortie
