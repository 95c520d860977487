#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "policies/shell/option_reader.h"

namespace sortie {

/// A command of the class `read-only`, or one of git's ("git log"): all that is known of it.
struct ReadOnlyCommand {
  /// How its words are judged (policies/rules/read_only_commands.cpp).
  enum class How { any, options, find, sed, test, command, git };

  std::string_view name;
  How how = How::any;
  bool counts_operands = false;  ///< what it does depends on how many there are, or on their place
  std::array<RefusedOption, 12> refused{};  ///< the rest of the array is empty
  OptionForms forms{};                      ///< of How::options and git's commands

  std::span<const RefusedOption> refused_options() const;
};

/// The table of the class. docs/read-only-class.md says the same.
std::span<const ReadOnlyCommand> read_only_commands();
/// @param name  "rg", "git", "git log"
/// @return      nothing where it is not of the class
const ReadOnlyCommand* find_read_only(std::string_view name);

/// Why a glob among the words of a command of the class can't be judged: it may become any name of
/// a file, "--pre=x" too.
/// @param name  the command's bare name
/// @param glob  the word as written, quotes resolved
/// @return "" where all names that it may become are fine
std::string why_no_glob(std::string_view name, std::string_view glob);

/// Whether all that the glob becomes begins with a character that stands there, and that is not
/// '-': no option then.
bool begins_literally(std::string_view glob);

}  // namespace sortie
