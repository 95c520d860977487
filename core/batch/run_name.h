#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The text as a name of [a-z0-9-_.] that can be a folder's: other characters become '-'. A long one is
/// cut, with a part of its digest, so that different texts stay different.
/// @return  1 to 120 bytes; never ".", "..", a name that begins with '.' or '-', or ends with ".prev",
///          which the folder of an earlier run has
std::string run_name_of(std::string_view text);

/// The first hex digits of the text's digest.
std::string short_digest(std::string_view text);

}  // namespace sortie
