#include "tools/mcp/plain_text.h"

#include <utility>

#include "core/text/terminal_text.h"

namespace sortie::mcp {
namespace {

/// How many bytes the character at `at` has that nobody sees and that changes how others are read:
/// U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 and the tags U+E0000 to U+E007F; 0
/// for every other.
std::size_t unseen_character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  if (byte(0) == 0xD8) return byte(1) == 0x9C ? 2 : 0;
  if (byte(0) == 0xE2 && byte(1) == 0x80)
    return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE) ? 3 : 0;
  if (byte(0) == 0xE2 && byte(1) == 0x81) return byte(2) >= 0xA6 && byte(2) <= 0xA9 ? 3 : 0;
  const bool tag = byte(0) == 0xF3 && byte(1) == 0xA0 && (byte(2) == 0x80 || byte(2) == 0x81);
  return tag ? 4 : 0;
}

std::string without_unseen(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = unseen_character(text, at); length > 0)
      at += length;
    else
      kept += text[at++];
  }
  return kept;
}

/// Whether every string and name in it is plain, but for titles, descriptions and comments, which
/// are made plain.
bool make_plain(Json& value, const std::string& name) {
  if (value.is_string()) {
    std::string plain = plain_text(value.text());
    if (plain == value.text()) return true;
    if (name != "description" && name != "title" && name != "$comment") return false;
    value = Json(std::move(plain));
    return true;
  }
  if (value.is_array()) {
    for (Json& item : value.items())
      if (!make_plain(item, "")) return false;
  } else if (value.is_object()) {
    for (auto& [member, inner] : value.members())
      if (plain_text(member) != member || !make_plain(inner, member)) return false;
  }
  return true;
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string plain;
  // One at a time, since a terminal would write the line anew behind a carriage return.
  for (;;) {
    const std::size_t end = text.find('\r');
    TerminalText terminal;
    std::string part = terminal.feed(text.substr(0, end));
    part += terminal.finish();
    plain += without_unseen(part);
    if (end == std::string_view::npos) return plain;
    plain += '\r';
    text.remove_prefix(end + 1);
  }
}

std::optional<Json> plain_schema(const Json& schema) {
  Json plain = schema;
  if (!make_plain(plain, "")) return std::nullopt;
  return plain;
}

}  // namespace sortie::mcp
