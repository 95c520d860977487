#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// Whether git converts files with this value of the attribute `working-tree-encoding`: not for
/// "UTF-8", which it stores.
bool is_other_encoding(std::string_view encoding);

/// The UTF-8 text that git stores for a file in another encoding, with git's rules for byte order
/// marks: required in UTF-16 and UTF-32, forbidden where the name says the order.
/// @return  nothing if git would refuse the file, or the encoding is not known here; git takes the
///          bytes as they are then
std::optional<std::string> decoded_file(std::string_view encoding, std::string_view content);

/// The bytes that git writes to the working tree for stored UTF-8 text; nothing as above.
std::optional<std::string> encoded_file(std::string_view encoding, std::string_view text);

}  // namespace sortie
