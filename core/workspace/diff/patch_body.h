#pragma once

#include <string>
#include <string_view>

#include "core/workspace/diff/patch_header.h"

namespace sortie {

/// Removes the first patch from the text: it ends before the next "diff --git ". No other line begins
/// so: content lines begin with one of " +-\", and lines of binary patches contain no space.
std::string_view take_patch(std::string_view& text);

/// Applies what follows a patch's header to the content of its file.
/// @param before  the old content; "" for a new file
/// @param body    "": the content stays, or the file is deleted
/// @return        the new content; "" for a deleted file
/// @throws Error  it can't be read, or does not apply
std::string apply_body(const PatchHeader& header, const std::string& before, std::string_view body);

/// Whether that gives this content. A text is compared line by line, not made.
/// @throws Error  it can't be read, or does not apply
bool body_gives(const PatchHeader& header, const std::string& before, std::string_view body,
                const std::string& after);

}  // namespace sortie
