#include "core/secrets/encodings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr const char* kLower = "0123456789abcdef";
constexpr const char* kUpper = "0123456789ABCDEF";

/// The base64 characters (RFC 4648 §4) that depend on the value only, if `shift` other bytes are
/// before it in its group of three.
std::string base64_core(std::string_view value, unsigned shift) {
  std::string bytes(shift, '\0');
  bytes.append(value);
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xFFFF;
    for (count += 8; count >= 6; count -= 6) text += kBase64[bits >> (count - 6) & 63];
  }
  // The shift's own characters, and the one that it shares with the value.
  return text.substr((shift * 8 + 5) / 6);
}

std::vector<std::string> base64_cores(std::string_view value) {
  return {base64_core(value, 0), base64_core(value, 1), base64_core(value, 2)};
}

std::string url_alphabet(std::string base64) {
  std::replace(base64.begin(), base64.end(), '+', '-');
  std::replace(base64.begin(), base64.end(), '/', '_');
  return base64;
}

std::string hex(std::string_view value, const char* digits) {
  std::string text;
  for (const char c : value) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

enum class ByteOrder { little, big };

/// The value in UTF-16 if it is plain ASCII; else "".
std::string utf16(std::string_view value, ByteOrder order) {
  std::string text;
  for (const char c : value) {
    if ((c & 0x80) != 0) return {};
    if (order == ByteOrder::big) text += '\0';
    text += c;
    if (order == ByteOrder::little) text += '\0';
  }
  return text;
}

/// The value with its characters up to U+00FF in Latin-1, as byte escapes give them (\xE4), and the
/// others in UTF-8; "" if that is the value itself.
std::string latin1(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto lead = static_cast<unsigned char>(value[i]);
    const bool two = (lead == 0xC2 || lead == 0xC3) && i + 1 < value.size() &&
                     (static_cast<unsigned char>(value[i + 1]) & 0xC0) == 0x80;
    if (two) ++i;
    const unsigned tail = static_cast<unsigned char>(value[i]);
    text += two ? static_cast<char>(lead == 0xC2 ? tail : tail + 0x40) : value[i];
  }
  return text == value ? std::string() : text;
}

/// The value with a blank between all characters, as in letterspaced text and od -c.
std::string spaced(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (!text.empty()) text += ' ';
    text += c;
  }
  return text;
}

void add_base64(std::string_view value, std::vector<std::string>& texts) {
  for (const std::string& core : base64_cores(value)) {
    texts.push_back(core);
    texts.push_back(url_alphabet(core));
    for (const std::string& again : base64_cores(core)) texts.push_back(again);
  }
}

void keep_each_once(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::erase(texts, std::string());
}

}  // namespace

Codings codings_of(std::string_view value) {
  Codings codings;
  codings.characters.push_back(latin1(value));
  for (const auto order : {ByteOrder::little, ByteOrder::big}) {
    const std::string wide = utf16(value, order);
    // Without the zero at its border: the neighbour's may be another one.
    if (wide.size() > 1)
      codings.characters.push_back(order == ByteOrder::little ? wide.substr(0, wide.size() - 1)
                                                              : wide.substr(1));
    if (order == ByteOrder::little && !wide.empty())
      for (const std::string& core : base64_cores(wide)) codings.base64.push_back(core);
  }
  add_base64(value, codings.base64);
  codings.hex = {hex(value, kLower), hex(value, kUpper)};
  codings.spaced = spaced(value);
  for (auto* list : {&codings.characters, &codings.base64, &codings.hex}) keep_each_once(*list);
  return codings;
}

std::string url_decoded(std::string_view text) {
  const auto digit = [](char c) -> std::optional<unsigned> {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
  };
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = digit(text[i + 1]);
      const auto low = digit(text[i + 2]);
      if (high && low) {
        bytes += static_cast<char>(*high << 4 | *low);
        i += 2;
        continue;
      }
    }
    bytes += text[i];
  }
  return bytes;
}

}  // namespace sortie
