#pragma once

#include <span>
#include <string_view>

namespace sortie {

/// An environment variable that a script may set for a command.
struct HarmlessVariable {
  /// Which values it may get.
  enum class Values {
    flag,       ///< "", 0, 1, true, false, yes, no, on, off
    number,     ///< digits
    listed,     ///< one of `listed`
    locale,     ///< C, POSIX or one in UTF-8
    name,       ///< letters, digits, - _ .
    folders,    ///< relative folders without "..", separated by ":"
    time_zone,  ///< UTC, Europe/Paris
    lints       ///< -D warnings
  };
  std::string_view name;
  Values values = Values::flag;
  std::string_view listed{};    ///< for Values::listed, between blanks
  std::string_view programs{};  ///< if not empty: only before one of these, between blanks
  std::string_view why;         ///< why it is harmless
};

/// The variables that change how a program shows what it does, and no more: none loads code, names
/// a program or a file to be written, or changes what is built. All others are refused.
std::span<const HarmlessVariable> harmless_variables();

/// Why NAME=VALUE may not be set before a command, or "".
/// @param command  its bare name, without version ("python3.11" counts as "python"); "" for `export`
std::string_view why_not_harmless(std::string_view name, std::string_view value,
                                  std::string_view command);

}  // namespace sortie
