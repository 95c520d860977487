#pragma once

#include <string_view>

#include "core/catalog/model_family.h"

namespace sortie {

// What a family of models is told of how to work: who it is, and what such models leave out or
// overdo unless it is said. What holds of the run is the same for all (shared.cpp).
extern const std::string_view kCodexInstructions;
extern const std::string_view kOpenAiInstructions;
extern const std::string_view kClaudeInstructions;
extern const std::string_view kOtherInstructions;

std::string_view instructions_for(ModelFamily family) noexcept;

/// How a run works, but for what ends it.
extern const std::string_view kRunFacts;
/// What ends it: of a run with one prompt, and of one with stages.
extern const std::string_view kRunEnds;
extern const std::string_view kStageEnds;
/// What holds of the work, whoever does it.
extern const std::string_view kRules;

/// The format of apply_patch, for runs that have the tool: in full, and for those that know it.
extern const std::string_view kPatchFormat;
extern const std::string_view kPatchReminder;

}  // namespace sortie
