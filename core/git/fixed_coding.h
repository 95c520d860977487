#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// A coding of text whose characters have a fixed unit: UTF-16, UTF-32, ISO-8859-1. These need no
/// iconv(3), which for all but UTF-8 loads modules that a machine without a C library does not have.
struct FixedCoding {
  enum class Order { little, big };

  int unit = 1;  ///< bytes: 1 (ISO-8859-1), 2 or 4
  Order order = Order::little;
  bool marked = false;  ///< a byte order mark is taken off and written, and says the order

  bool operator==(const FixedCoding&) const = default;
};

/// @param name  in lower case, without the dash after "utf": "utf16", "utf32be", "iso-8859-1"
std::optional<FixedCoding> fixed_coding(std::string_view name);

/// The text in UTF-8; nothing where the bytes are not of the coding.
std::optional<std::string> utf8_of(const FixedCoding& coding, std::string_view bytes);

/// UTF-8 text in the coding; nothing where it is not UTF-8, or the coding lacks a character.
std::optional<std::string> encoded_in(const FixedCoding& coding, std::string_view text);

}  // namespace sortie
