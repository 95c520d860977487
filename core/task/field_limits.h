#pragma once

#include <chrono>

#include "core/config/fields.h"

namespace sortie {

/// What several parts of a task file hold a value to.
inline constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24);
inline constexpr TextLimits kVariableName = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                             .meaning = "the name of an environment variable"};

}  // namespace sortie
