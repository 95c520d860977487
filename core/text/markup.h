#pragma once

#include <string_view>

namespace sortie {

/// What stands for a byte in HTML and XML, as text and in an attribute; "" if it stands for itself.
std::string_view markup_entity(char c) noexcept;

}  // namespace sortie
