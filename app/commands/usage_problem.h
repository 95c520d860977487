#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sortie {

/// The innermost command that was named.
const CLI::App& chosen_command(const CLI::App& root);

/// "task check ", as it is typed; "" for the program alone.
std::string words_of_command(const CLI::App& root);

/// What is wrong with a command line, in one line: the word, what was expected, the nearest known one.
/// @param root  after it has thrown the error
std::string usage_problem(const CLI::App& root, const CLI::ParseError& error);

}  // namespace sortie
