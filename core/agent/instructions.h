#pragma once

#include <string_view>

namespace sortie {

/// The part of the system prompt that is the same in every run.
extern const std::string_view kInstructions;

/// The format of apply_patch, for runs that have the tool.
extern const std::string_view kPatchInstructions;

}  // namespace sortie
