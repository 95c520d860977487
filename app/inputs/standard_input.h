#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sortie {

/// Reads stdin to its end; nothing if it is a terminal or closed.
/// @throws InputError  more than `max_bytes`, 10 s without a byte, an hour in all, or not UTF-8
std::optional<std::string> read_standard_input(std::uint64_t max_bytes = 1u << 20);

}  // namespace sortie
