#pragma once

#include <cstddef>
#include <string_view>

namespace sortie {

/// Whether a file is binary: a NUL in the first 8 KiB, about as far as git looks. UTF-16 is to be
/// looked for first.
inline bool begins_binary(std::string_view beginning) {
  constexpr std::size_t kSniffed = 8192;
  return beginning.substr(0, kSniffed).find('\0') != std::string_view::npos;
}

}  // namespace sortie
