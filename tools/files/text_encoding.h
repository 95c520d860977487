#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sortie {

/// Whether a file is binary: a NUL in the first 8 KiB, about as far as git looks. UTF-16 is to be
/// looked for first.
inline bool begins_binary(std::string_view beginning) {
  constexpr std::size_t kSniffed = 8192;
  return beginning.substr(0, kSniffed).find('\0') != std::string_view::npos;
}

enum class Utf16Order { little, big };

/// By the byte order mark that a text begins with; nothing where there is none (or that of UTF-32).
std::optional<Utf16Order> utf16_order(std::string_view begin) noexcept;

/// UTF-16 (RFC 2781) in pieces to UTF-8; the byte order mark is left out, and what is no character
/// becomes U+FFFD.
class Utf16Decoder {
 public:
  explicit Utf16Decoder(Utf16Order order) : order_(order) {}
  std::string feed(std::string_view piece);

 private:
  void put_unit(std::uint32_t unit, std::string& text);

  Utf16Order order_;
  std::optional<unsigned char> half_{};  ///< the first byte of a unit
  std::uint32_t high_ = 0;               ///< the first half of a pair; 0: none
  bool begin_ = true;
};

}  // namespace sortie
