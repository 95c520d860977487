#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// Why a sed script may do more than print and change what sed reads: its commands r, R, w, W and e,
/// the flags w and e of `s`, and whatever is not certainly read as sed reads it.
/// @return "" for a script without an effect
std::string why_sed_has_effects(std::string_view script);

}  // namespace sortie
