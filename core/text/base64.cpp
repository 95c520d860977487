#include "core/text/base64.h"

#include <cstdint>

namespace sortie {
namespace {

constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_encoded(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at]))
                             : 0u;
  };
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    const std::size_t left = bytes.size() - at;
    text += kBase64Letters[group >> 18];
    text += kBase64Letters[group >> 12 & 63];
    text += left > 1 ? kBase64Letters[group >> 6 & 63] : '=';
    text += left > 2 ? kBase64Letters[group & 63] : '=';
  }
  return text;
}

std::string base64_decoded(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  unsigned count = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (char c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
    const std::size_t value = kBase64Letters.find(c);
    if (value == std::string_view::npos) return {};
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xFFFF;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

}  // namespace sortie
