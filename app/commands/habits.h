#pragma once

#include <string>

namespace sortie {

/// What to write here instead of a flag or a command that other runners of agents have; "" for all
/// other words.
/// @param word  a flag with its dashes, without a value; or a command
/// @param command  the one that it was given to: "exec", which has the flags of codex, or any other
std::string instead_of_habit(const std::string& word, const std::string& command);

}  // namespace sortie
