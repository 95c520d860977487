#pragma once

#include <string>
#include <string_view>

namespace sortie::patch {

/// Without the blanks (Unicode's White_Space) at both ends, or at the right one.
std::string_view trim(std::string_view text);
std::string_view trim_right(std::string_view text);

/// With typographic dashes, quotes and spaces as their ASCII relatives.
std::string fold_signs(std::string_view text);

}  // namespace sortie::patch
