#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A word of a script, read loosely.
struct LooseWord {
  /// Quotes and backslashes removed, parts joined; what an expansion or a glob stands for is
  /// kLooseAnything, since it is not known before the shell runs.
  std::string text;
  bool starts_command = false;  ///< it stands where a command's name does
  bool quoted = false;          ///< it stands inside quotes: perhaps only an argument
  bool ends_command = false;    ///< an operator or a newline follows
  bool continues = false;       ///< for the shell it is one word with the one before
  bool redirects = false;       ///< the file of a redirection, no word of the command
  bool substitutes = false;     ///< `$(…)` or `${…}` follows at once: its end is not known
};

inline constexpr char kLooseAnything = '\x01';

/// The words of a shell script for rules that must err towards denying: split at blanks,
/// operators, quotes' insides included, so that every word that a shell could run as a command
/// is among them. Never used to allow.
std::vector<LooseWord> loose_words(std::string_view script);

/// Whether the word could be exactly `expected` once the shell has expanded it.
bool could_be(std::string_view word, std::string_view expected);

/// The glob for rules that deny: the part that is not known as kLooseAnything.
std::string loose_glob(std::string_view glob);

/// Whether a command is git, or a shell string in which some word could be: it then runs in the
/// environment that holds git to the one repository. Errs towards yes.
bool may_run_git(std::span<const std::string> argv);

}  // namespace sortie
