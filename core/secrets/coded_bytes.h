#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/secrets/readings.h"

namespace sortie {

/// Kinds of bytes that may be between two characters of a value, or before one.
enum ByteKind : std::uint8_t {
  plain_byte = 0,
  coded_byte = 1,  ///< begins_coded()
  quote_byte = 2,
  line_break_byte = 4,
  blank_byte = 8,
  mark_byte = 16  ///< of comments, of strings that are joined
};

constexpr std::array<std::uint8_t, 256> make_byte_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  const auto set = [&](std::string_view bytes, ByteKind kind) {
    for (const char c : bytes) kinds[static_cast<unsigned char>(c)] = kind;
  };
  set("\\%&=", coded_byte);
  set("\"'`", quote_byte);
  set("\n\r", line_break_byte);
  set(" \t", blank_byte);
  set("#|>*/+-,.;:", mark_byte);
  return kinds;
}
inline constexpr std::array<std::uint8_t, 256> kByteKinds = make_byte_kinds();

/// @return  a ByteKind
inline std::uint8_t kind_of(char c) { return kByteKinds[static_cast<unsigned char>(c)]; }

constexpr bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Two bytes as a number below 65536.
constexpr std::size_t pair_of(char first, char second) {
  return static_cast<std::size_t>(static_cast<unsigned char>(first) << 8 |
                                  static_cast<unsigned char>(second));
}

/// A hash of three bytes below 65536.
constexpr std::size_t triple_of(char first, char second, char third) {
  return (pair_of(first, second) + static_cast<unsigned char>(third) * std::size_t{40503}) & 0xFFFF;
}

/// The most bytes of the text column after a dump's line.
inline constexpr std::size_t kMostDumpLine = 120;
/// How many bytes next_dump_line() needs from a line's last byte on.
std::size_t dump_line_needs(std::string_view text);
/// Finds the first byte of a dump's next line, after its offset column.
/// @return  its place in the text, 0 if there is none
std::size_t next_dump_line(std::string_view text, std::size_t at);

}  // namespace sortie
