#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "policies/shell/option_reader.h"

namespace sortie {

/// A command of the class `read-only`, or a git subcommand ("git log").
struct ReadOnlyCommand {
  /// How its words are checked (policies/rules/read_only_commands.cpp).
  enum class How { any, options, find, sed, test, command, git };

  std::string_view name;
  How how = How::any;
  bool counts_operands = false;  ///< its effect depends on the number or position of operands
  std::array<RefusedOption, 12> refused{};  ///< the rest of the array is empty
  OptionForms forms{};                      ///< for How::options and git subcommands

  std::span<const RefusedOption> refused_options() const;
};

/// The table of the class, documented in docs/read-only-class.md.
std::span<const ReadOnlyCommand> read_only_commands();
/// @param name  "rg", "git", "git log"
/// @return      null if it is not in the class
const ReadOnlyCommand* find_read_only(std::string_view name);

/// Why a glob among the words of such a command can't be checked: it may expand to any file name,
/// even "--pre=x".
/// @param name  the command's bare name
/// @param glob  the word as written, quotes resolved
/// @return "" if any expansion is fine
std::string why_no_glob(std::string_view name, std::string_view glob);

/// Whether each expansion of the glob begins with a literal character other than '-', so that it
/// can't be an option.
bool begins_literally(std::string_view glob);

}  // namespace sortie
