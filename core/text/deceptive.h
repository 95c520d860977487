#pragma once

#include <string>

namespace sortie {

/// Whether a character above U+007F hides text, changes its direction, or ends a line for some
/// programs alone. The joiners U+200C and U+200D do not: scripts and emoji need them.
///
/// Source: Unicode 15, Bidi_Control, Default_Ignorable_Code_Point, and the categories Cc, Zl and Zp.
bool is_deceptive(char32_t code) noexcept;

/// "[U+202E]": what stands for such a character.
std::string named_character(char32_t code);

}  // namespace sortie
