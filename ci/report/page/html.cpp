#include "ci/report/page/html.h"

#include <cstdio>

#include "core/text/code_point.h"
#include "core/text/deceptive.h"
#include "core/text/display_width.h"
#include "core/text/markup.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

constexpr int kMostMarks = 8;

/// Whether a character combines with the one before it. The first mark is U+0300.
bool is_mark(const Character& character, std::string_view text) {
  return character.code >= 0x300 && display_columns(text.substr(0, character.length)) == 0;
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
      if (const auto entity = markup_entity(c); !entity.empty()) {
        replace(at, 1, entity);
      } else if (is_control(c)) {
        replace(at, 1, named_character(static_cast<unsigned char>(c)));
      }
    } else {
      const Character character = character_at(text.substr(at));
      bytes = character.length;
      if (is_deceptive(character.code)) {
        replace(at, bytes, named_character(character.code));
      } else if (!is_mark(character, text.substr(at))) {
        marks = 0;
      } else if (++marks > kMostMarks) {
        // More would stand on the lines around, and hide them.
        replace(at, bytes, named_character(character.code));
      }
    }
    at += bytes;
  }
  out_ << text.substr(written);
  return *this;
}

Html& Html::operator<<(std::int64_t number) {
  out_ << words_of_count(number);
  return *this;
}

Html& Html::operator<<(std::chrono::milliseconds time) {
  const auto ms = time.count();
  char text[64];
  if (ms < 0) return *this << "unknown";
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
