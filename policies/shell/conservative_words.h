#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A word of a script, read loosely: rather too many words than too few.
struct LooseWord {
  /// Without quotes and backslashes, parts joined; an expansion or a glob is kLooseAnything, since
  /// its value is unknown before the shell runs.
  std::string text;
  bool starts_command = false;  ///< it is in the position of a command's name
  bool quoted = false;          ///< it is inside quotes: perhaps only an argument
  bool ends_command = false;    ///< an operator or a newline follows
  bool continues = false;       ///< for the shell it is part of the word before
  bool redirects = false;       ///< the file of a redirection, not a word of the command
  bool substitutes = false;     ///< `$(…)` or `${…}` follows at once: its end is unknown
};

inline constexpr char kLooseAnything = '\x01';

/// The words of a shell script for rules that must err towards denying: split at blanks and
/// operators, also inside quotes, so that every word that a shell could run as a command is among
/// them. Never used to allow.
std::vector<LooseWord> loose_words(std::string_view script);

/// Whether the word could be exactly `expected` once the shell has expanded it.
bool could_be(std::string_view word, std::string_view expected);

/// The glob for deny rules: its unknown part becomes kLooseAnything.
std::string loose_glob(std::string_view glob);

/// Whether a command is git, or a shell string in which some word could be git: it then runs in the
/// environment that restricts git to one repository. Errs towards true.
bool may_run_git(std::span<const std::string> argv);

}  // namespace sortie
