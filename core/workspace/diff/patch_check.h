#pragma once

#include <string>
#include <string_view>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// Parses the text and applies it to `before`, patch by patch.
/// @param read_on  called every now and then
/// @return         "" if the result is exactly `after`, else the difference
std::string check_patch(std::string_view text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& check_cancel = {},
                        const ReadOn& read_on = {});

}  // namespace sortie
