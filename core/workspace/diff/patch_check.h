#pragma once

#include <string>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// Parses the text and applies it to `before`, patch by patch.
/// @return  "" if the result is exactly `after`, else the difference
std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& check_cancel = {});

}  // namespace sortie
