#include "app/show/log_style.h"

#include <algorithm>
#include <utility>

#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Redacted for a line, which is shorter: a secret at the line's end must be seen whole.
constexpr std::size_t kRedactedBytes = 64u << 10;
/// The least room for a text beside its note.
constexpr std::size_t kLeastText = 20;
constexpr const char* kIndent = "    ";
constexpr const char* kOutputMark = "    | ";

const char* code_of(Tint tint) {
  switch (tint) {
    case Tint::faint:
      return "\x1b[2m";
    case Tint::good:
      return "\x1b[32m";
    case Tint::caution:
      return "\x1b[33m";
    case Tint::bad:
      return "\x1b[31m";
    case Tint::plain:
      break;
  }
  return "";
}

/// The columns for the text between mark and note; 0: no limit.
std::size_t room_for_text(const LogStyle& style, const std::string& mark, const std::string& note) {
  if (style.columns == 0) return 0;
  const std::size_t taken = display_columns(mark) + display_columns(note);
  return taken + kLeastText > style.columns ? kLeastText : style.columns - taken;
}

}  // namespace

std::string tinted(const LogStyle& style, Tint tint, std::string text) {
  if (!style.colors || tint == Tint::plain || text.empty()) return text;
  return code_of(tint) + std::move(text) + "\x1b[0m";
}

std::string line_for_people(std::string_view text, const Redactor& redactor,
                            std::size_t max_bytes) {
  return one_line(redactor.text(std::string(utf8_prefix(text, kRedactedBytes)), Audience::people),
                  max_bytes);
}

std::vector<std::string> lines_of(const LogStyle& style, const LogEntry& entry) {
  std::string note = entry.note;
  bool apart = false;
  if (!entry.why.empty()) {
    const std::string whole = (note.empty() ? "" : note + ": ") + entry.why;
    apart =
        style.columns != 0 && display_columns(entry.mark + entry.text + whole) + 3 > style.columns;
    if (!apart) note = whole;
  }
  const std::string shown = note.empty() ? "" : " (" + note + ")";
  const std::size_t room = room_for_text(style, entry.mark, shown);
  std::vector<std::string> lines{tinted(style, Tint::faint, entry.mark) +
                                 (room == 0 ? entry.text : cut_to_columns(entry.text, room)) +
                                 tinted(style, entry.tint, shown)};
  if (apart)
    for (const auto& line : wrapped(entry.why, std::max(style.columns, kLeastText) - 4))
      lines.push_back(kIndent + tinted(style, entry.tint, line));
  return lines;
}

std::string output_line(const LogStyle& style, std::string_view line, const Redactor& redactor) {
  std::string text = line_for_people(line, redactor);
  if (style.columns != 0) text = cut_to_columns(text, std::max(style.columns, kLeastText) - 6);
  return tinted(style, Tint::faint, kOutputMark) + text;
}

std::vector<std::string> last_lines(const LogStyle& style, const std::string& output,
                                    std::size_t most, const Redactor& redactor) {
  // As a whole: a private key is one secret of many lines.
  const std::string clean = redactor.text(output, Audience::people);
  std::vector<std::string_view> all = split_lines(clean);
  while (!all.empty() && trimmed(all.back()).empty()) all.pop_back();
  const std::size_t above = all.size() > most ? all.size() - most : 0;
  std::vector<std::string> lines;
  if (above > 0)
    lines.push_back(tinted(style, Tint::faint,
                           kOutputMark + ("… " + std::to_string(above)) +
                               (above == 1 ? " line above" : " lines above")));
  for (std::size_t i = above; i < all.size(); ++i)
    lines.push_back(output_line(style, all[i], redactor));
  return lines;
}

}  // namespace sortie
