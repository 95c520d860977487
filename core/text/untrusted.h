#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// Text from outside for a model: `<untrusted name="NAME">TEXT</untrusted>`, repaired to UTF-8, and
/// unable to close the tag or to open another.
std::string untrusted(std::string_view name, std::string_view text);

/// The text with `&lt;` for each `<` that begins an opening or closing tag, as loosely as a model
/// may read it: in any letter case, with white space, slashes, control and invisible characters
/// anywhere in between, and with characters that look like `<` or like its letters.
/// @param tag  lower-case ASCII
std::string without_tag(std::string_view text, std::string_view tag);

}  // namespace sortie
