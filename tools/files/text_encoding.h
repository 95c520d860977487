#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sortie {

/// Whether a file is binary: it has a NUL in its first 8 KiB (git checks 8,000 bytes). Check for
/// UTF-16 first.
inline bool begins_binary(std::string_view beginning) {
  constexpr std::size_t kSniffed = 8192;
  return beginning.substr(0, kSniffed).find('\0') != std::string_view::npos;
}

enum class Utf16Order { little, big };

/// The byte order by the text's byte order mark; nothing without one, or for UTF-32.
std::optional<Utf16Order> utf16_order(std::string_view begin) noexcept;

/// Decodes UTF-16 (RFC 2781) piece by piece to UTF-8, without the byte order mark. Invalid units
/// become U+FFFD.
class Utf16Decoder {
 public:
  explicit Utf16Decoder(Utf16Order order) : order_(order) {}
  std::string feed(std::string_view piece);

 private:
  void append_unit(std::uint32_t unit, std::string& text);

  Utf16Order order_;
  std::optional<unsigned char> half_{};  ///< the first byte of a unit
  std::uint32_t high_ = 0;               ///< a pending high surrogate; 0: none
  bool begin_ = true;
};

}  // namespace sortie
