#pragma once

#include <string_view>

#include "core/catalog/model_family.h"

namespace sortie {

/// How to work, for a family of models: the role, and what these models tend to skip or overdo
/// unless told. The rest of the prompt is the same for all families.
std::string_view instructions_for(ModelFamily family) noexcept;

/// How a run works.
extern const std::string_view kRunFacts;
/// When a run with one prompt ends, and when a stage of a run ends; the same without tools.
extern const std::string_view kRunEnds;
extern const std::string_view kStageEnds;
extern const std::string_view kRunEndsAtOnce;
extern const std::string_view kStageEndsAtOnce;
/// The role where there are no tools.
extern const std::string_view kNoTools;
/// Rules for changes, whatever the model.
extern const std::string_view kChangeRules;
/// Rules for all work.
extern const std::string_view kRules;

/// The format of apply_patch, for runs that have the tool: in full, and for models trained on it.
extern const std::string_view kPatchFormat;
extern const std::string_view kPatchReminder;

}  // namespace sortie
