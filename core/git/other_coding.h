#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// Converts between the codings that iconv(3) knows; nothing where it knows one of them not, or the
/// bytes can't be converted. The program without shared libraries knows none: its iconv would load
/// modules of the machine's C library, which need not be the one that is linked in.
std::optional<std::string> converted(const std::string& to, const std::string& from,
                                     std::string_view bytes);

}  // namespace sortie
