#include "ci/report/page/html.h"

#include <cstdio>

#include "core/text/display_width.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// What stands for a byte in HTML; "" if it stands for itself.
std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

/// The code point of a three-byte or two-byte character that hides or turns text; 0: none is there.
/// Source: Unicode 15, Bidi_Control, and the invisible of General_Category Cf and Zl, Zp, Cc. The
/// joiners U+200C and U+200D stay: scripts and emoji need them.
unsigned hidden_at(std::string_view text, std::size_t at, std::size_t& bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (byte(0) == 0xc2 && byte(1) < 0xa0) {
    bytes = 2;
    return byte(1);
  }
  if (byte(0) == 0xd8 && byte(1) == 0x9c) {
    bytes = 2;
    return 0x61c;
  }
  if ((byte(0) & 0xf0U) != 0xe0) return 0;
  const unsigned point = ((byte(0) & 0x0fU) << 12U) | ((byte(1) & 0x3fU) << 6U) | (byte(2) & 0x3fU);
  const bool hidden = point == 0x200b || point == 0x200e || point == 0x200f ||
                      (point >= 0x2028 && point <= 0x202e) ||
                      (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
  bytes = 3;
  return hidden ? point : 0;
}

constexpr int kMostMarks = 8;

/// The code point at the beginning of valid UTF-8, if it combines with the character before it;
/// 0: it does not. The first mark is U+0300.
/// @param bytes  gets its length
unsigned mark_at(std::string_view text, std::size_t& bytes) {
  const auto first = static_cast<unsigned char>(text[0]);
  bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xcc || bytes > text.size() || display_columns(text.substr(0, bytes)) > 0) return 0;
  unsigned point = first & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i)
    point = point << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return point;
}

std::string named_point(unsigned point) {
  char name[16];
  std::snprintf(name, sizeof name, "[U+%04X]", point);
  return name;
}

}  // namespace

Html& Html::operator<<(std::string_view text) {
  if (!is_utf8(text)) return *this << std::string_view(repair_utf8(text));
  std::size_t written = 0;
  int marks = 0;  // on the character before
  const auto replace = [&](std::size_t at, std::size_t bytes, std::string_view by) {
    out_ << text.substr(written, at - written) << by;
    written = at + bytes;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t bytes = 1;
    if (static_cast<unsigned char>(c) < 0x80) {
      marks = 0;
      if (const auto entity = entity_of(c); !entity.empty()) {
        replace(at, 1, entity);
      } else if (is_control(c)) {
        replace(at, 1, named_point(static_cast<unsigned char>(c)));
      }
    } else if (const unsigned hidden = hidden_at(text, at, bytes)) {
      replace(at, bytes, named_point(hidden));
    } else if (const unsigned mark = mark_at(text.substr(at), bytes)) {
      // More would stand on the lines around, and hide them.
      if (++marks > kMostMarks) replace(at, bytes, named_point(mark));
    } else {
      marks = 0;
    }
    at += bytes;
  }
  out_ << text.substr(written);
  return *this;
}

Html& Html::operator<<(std::int64_t number) {
  out_ << with_thousands(number);
  return *this;
}

Html& Html::operator<<(std::chrono::milliseconds time) {
  const auto ms = time.count();
  char text[64];
  if (ms < 1000) {
    std::snprintf(text, sizeof text, "%d ms", static_cast<int>(ms));
  } else if (ms < 60'000) {
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ms) / 1000);
  } else if (ms < 3'600'000) {
    std::snprintf(text, sizeof text, "%d min %d s", static_cast<int>(ms / 60'000),
                  static_cast<int>(ms / 1000 % 60));
  } else {
    std::snprintf(text, sizeof text, "%lld h %d min", static_cast<long long>(ms / 3'600'000),
                  static_cast<int>(ms / 60'000 % 60));
  }
  out_ << text;
  return *this;
}

Html& Html::operator<<(const Excerpt& excerpt) {
  *this << excerpt.head;
  if (excerpt.left_out > 0) {
    *this << "<span class=\"cut\">" << size_in_words(excerpt.left_out)
          << " left out here; the transcript has them</span>";
  }
  return *this << excerpt.tail;
}

std::string dollars(const std::optional<double>& usd) {
  if (!usd) return "unknown";
  char text[64];
  std::snprintf(text, sizeof text, *usd > 0 && *usd < 0.01 ? "$%.4f" : "$%.2f", *usd);
  return text;
}

}  // namespace sortie
