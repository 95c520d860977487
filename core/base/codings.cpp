#include "core/base/codings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/json.h"

namespace sortie {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr const char* kLower = "0123456789abcdef";
constexpr const char* kUpper = "0123456789ABCDEF";

bool is_alphanumeric(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_in(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

/// The base64 characters (RFC 4648 §4) that depend on nothing but the value when `shift` other
/// bytes stand before it in its group of three.
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

/// Percent-coded (RFC 3986 §2): all but the unreserved characters, and those in `also`.
std::string url_coded(std::string_view value, const char* digits, std::string_view also) {
  std::string text;
  for (const char c : value) {
    if (is_alphanumeric(c) || is_in("-._~", c) || is_in(also, c))
      text += c;
    else
      text += "%" + hex(std::string_view(&c, 1), digits);
  }
  return text;
}

std::string json_escaped(std::string_view value) {
  std::string text;
  write_json_string(value, text);
  return text.substr(1, text.size() - 2);
}

/// As json_escaped, and the characters of `also` as \u00XX, as encoders do that fear HTML.
std::string json_escaped(std::string_view value, std::string_view also, const char* digits) {
  std::string text;
  for (const char c : json_escaped(value))
    text += is_in(also, c) ? "\\u00" + hex(std::string_view(&c, 1), digits) : std::string(1, c);
  return text;
}

/// Each character that is in `special` replaced by `before` + it + `after`.
std::string quoted(std::string_view value, std::string_view special, std::string_view before,
                   std::string_view after = {}) {
  std::string text;
  for (const char c : value) {
    if (!is_in(special, c)) {
      text += c;
      continue;
    }
    text.append(before);
    text += c;
    text.append(after);
  }
  return text;
}

/// As printf %q writes a word.
std::string shell_escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    const bool plain = is_alphanumeric(c) || is_in("%+-./:=@_", c) || (c & 0x80) != 0;
    if (!plain) text += '\\';
    text += c;
  }
  return text;
}

std::string html_escaped(std::string_view value, std::string_view apostrophe) {
  std::string text;
  for (const char c : value) {
    if (c == '&')
      text += "&amp;";
    else if (c == '<')
      text += "&lt;";
    else if (c == '>')
      text += "&gt;";
    else if (c == '"')
      text += "&quot;";
    else if (c == '\'')
      text += apostrophe;
    else
      text += c;
  }
  return text;
}

enum class ByteOrder { little, big };

/// As UTF-16, of a value that is plain ASCII; else "".
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

void add_escapes(std::string_view value, std::vector<std::string>& texts) {
  const std::string escaped = json_escaped(value);
  texts.push_back(escaped);
  texts.push_back(json_escaped(escaped));
  texts.push_back(quoted(escaped, "/", "\\"));
  for (const char* digits : {kLower, kUpper})
    for (const auto also : {"<>&", "<>&'", "<>&'+", "<>&'+`", "<>&=", "<>&'="})
      texts.push_back(json_escaped(value, also, digits));
  for (const auto apostrophe : {"'", "&#39;", "&#x27;", "&apos;"})
    texts.push_back(html_escaped(value, apostrophe));
  texts.push_back(quoted(value, "'", "'\\", "'"));
  texts.push_back(quoted(value, "'", "'\"", "\"'"));
  texts.push_back(quoted(value, "\\'", "\\"));
  texts.push_back(quoted(value, "\\", "\\"));
  texts.push_back(quoted(value, "\\\"$`", "\\"));
  texts.push_back(shell_escaped(value));
}

void add_url_forms(std::string_view value, std::vector<std::string>& texts) {
  // What encodeURIComponent(), encodeURI() and form encoding leave as it is.
  constexpr std::string_view kComponent = "!'()*";
  constexpr std::string_view kUri = "!'()*;/?:@&=+$,#";
  for (const char* digits : {kLower, kUpper}) {
    for (const auto also : {std::string_view(), std::string_view("/"), kComponent, kUri})
      texts.push_back(url_coded(value, digits, also));
    std::string form = url_coded(value, digits, " ");
    std::replace(form.begin(), form.end(), ' ', '+');
    texts.push_back(std::move(form));
  }
}

/// Each byte as its number between `before` and `after`.
std::string numbered(std::string_view value, std::string_view before, const char* digits,
                     std::string_view after = {}) {
  std::string text;
  for (const char c : value) {
    text.append(before);
    const auto byte = static_cast<unsigned char>(c);
    text += digits == nullptr ? std::to_string(byte) : hex(std::string_view(&c, 1), digits);
    text.append(after);
  }
  return text;
}

/// Every character coded, also those that need it not: %41, \x41, \u0041, &#65;. The numbers of
/// characters are looked for of values in plain ASCII.
void add_numbers(std::string_view value, std::vector<std::string>& texts) {
  const bool ascii =
      std::none_of(value.begin(), value.end(), [](char c) { return (c & 0x80) != 0; });
  for (const char* digits : {kLower, kUpper}) {
    texts.push_back(numbered(value, "%", digits));
    for (const auto before : {"\\x", "\\\\x"}) texts.push_back(numbered(value, before, digits));
    if (!ascii) continue;
    for (const auto before : {"\\u00", "\\\\u00", "\\U000000"})
      texts.push_back(numbered(value, before, digits));
    texts.push_back(numbered(value, "\\u{", digits, "}"));
    for (const auto before : {"&#x", "&#X", "&#x00"})
      texts.push_back(numbered(value, before, digits, ";"));
  }
  if (!ascii) return;
  texts.push_back(numbered(value, "&#", nullptr, ";"));
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
  codings.whole.emplace_back(value);
  add_escapes(value, codings.whole);
  add_url_forms(value, codings.whole);
  add_numbers(value, codings.whole);
  for (const auto order : {ByteOrder::little, ByteOrder::big}) {
    const std::string wide = utf16(value, order);
    // Without the zero at its border: the neighbour's may be another one.
    if (wide.size() > 1)
      codings.whole.push_back(order == ByteOrder::little ? wide.substr(0, wide.size() - 1)
                                                         : wide.substr(1));
    if (order == ByteOrder::little && !wide.empty())
      for (const std::string& core : base64_cores(wide)) codings.wrapped.push_back(core);
  }
  add_base64(value, codings.wrapped);
  codings.wrapped.push_back(hex(value, kLower));
  codings.wrapped.push_back(hex(value, kUpper));
  keep_each_once(codings.whole);
  keep_each_once(codings.wrapped);
  return codings;
}

std::string base64_decoded(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  unsigned count = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (char c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
    const std::size_t value = kBase64.find(c);
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
