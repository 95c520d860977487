#pragma once

#include <string>

namespace sortie {

/// What to write here instead of a flag that other runners of agents have; "" for all other words.
/// @param flag  with its dashes, without a value
std::string instead_of_habit(const std::string& flag);

}  // namespace sortie
