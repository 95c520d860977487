#include "tools/files/text_encoding.h"

namespace sortie {
using namespace std::string_view_literals;
namespace {

void append_utf8(std::uint32_t code, std::string& text) {
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace

std::optional<Utf16Order> utf16_order(std::string_view begin) noexcept {
  if (begin.starts_with("\xFF\xFE\0\0"sv)) return std::nullopt;
  if (begin.starts_with("\xFF\xFE"sv)) return Utf16Order::little;
  if (begin.starts_with("\xFE\xFF"sv)) return Utf16Order::big;
  return std::nullopt;
}

std::string Utf16Decoder::feed(std::string_view piece) {
  std::string text;
  for (const char letter : piece) {
    const auto byte = static_cast<unsigned char>(letter);
    if (!half_) {
      half_ = byte;
      continue;
    }
    const std::uint32_t unit = order_ == Utf16Order::little ? std::uint32_t{byte} << 8 | *half_
                                                            : std::uint32_t{*half_} << 8 | byte;
    half_.reset();
    append_unit(unit, text);
  }
  return text;
}

void Utf16Decoder::append_unit(std::uint32_t unit, std::string& text) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  if (std::exchange(begin_, false) && unit == 0xFEFF) return;
  const bool is_low = unit >= 0xDC00 && unit < 0xE000;
  if (high_ != 0) {
    const std::uint32_t high = std::exchange(high_, 0);
    if (is_low) return append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
    append_utf8(kReplacement, text);
  }
  if (unit >= 0xD800 && unit < 0xDC00)
    high_ = unit;
  else
    append_utf8(is_low ? kReplacement : unit, text);
}

}  // namespace sortie
