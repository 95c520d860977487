#pragma once

#include <string>

namespace sortie {

/// The shortest text that reads as this number again, as std::to_chars() writes it: "0.1", "1e+21". That
/// one comes with tables of 0.1 MB.
/// @param value  finite
std::string number_text(double value);

}  // namespace sortie
