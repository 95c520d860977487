#pragma once

#include <string_view>
#include <vector>

#include "tools/patch/hunk.h"

namespace sortie::patch {

/// Parses the text of an apply_patch call into its hunks, in the order written.
///
/// Judges the text alone: whether files exist and context matches is applier.h's part.
///
/// @param text  "*** Begin Patch" to "*** End Patch", UTF-8, LF or CRLF; one heredoc around it is
///              accepted, since some models send one
/// @return      at least one hunk
/// @throws ToolError  "Invalid patch: …" or "Invalid patch hunk on line N: …", N from 1
///
/// Source: the apply_patch grammar (docs/formats.md#apply_patch).
std::vector<Hunk> parse_patch(std::string_view text);

}  // namespace sortie::patch
