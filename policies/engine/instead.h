#pragma once

#include <span>
#include <string>

namespace sortie {

/// What to send in place of a command that is not allowed: one line for its program and options,
/// from a table, else `otherwise`.
/// @param argv  at least one word
std::string instead_of(std::span<const std::string> argv, const std::string& otherwise);

/// What to send in place of a script that can't be read, by the sign at which reading ended.
/// @param part    the text there
/// @param reason  as the reader gives it
std::string instead_of_script(std::string_view part, std::string_view reason);

}  // namespace sortie
