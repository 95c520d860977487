#pragma once

#include <string_view>

namespace sortie {

// The page's style and script: page.css and page.js, compiled in.
std::string_view page_style() noexcept;
std::string_view page_script() noexcept;

}  // namespace sortie
