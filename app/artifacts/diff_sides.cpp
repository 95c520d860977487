#include "app/artifacts/diff_sides.h"

#include <algorithm>
#include <charconv>

namespace sortie {
namespace {

bool read_count(std::string_view& text, long& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool read_span(std::string_view& text, char sign, long& line, long& count) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  if (!read_count(text, line)) return false;
  if (!text.starts_with(',')) return true;
  text.remove_prefix(1);
  return read_count(text, count);
}

}  // namespace

std::string_view take_diff_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// "@@ -1,7 +1,9 @@ …"
bool HunkLines::begin(std::string_view line) {
  HunkLines read;
  read.old_count_ = read.new_count_ = 1;
  if (!line.starts_with("@@ ")) return false;
  line.remove_prefix(3);
  if (!read_span(line, '-', read.old_line_, read.old_count_)) return false;
  if (!line.starts_with(' ')) return false;
  line.remove_prefix(1);
  if (!read_span(line, '+', read.new_line_, read.new_count_)) return false;
  *this = read;
  return true;
}

std::optional<HunkLine> HunkLines::take(std::string_view text) {
  HunkLine line{text.empty() ? ' ' : text.front(),
                text.substr(std::min<std::size_t>(1, text.size())), old_line_, new_line_};
  if (line.sign == '\\') return std::nullopt;
  if (line.sign != '+' && line.sign != '-') line.sign = ' ';
  if (line.is_on(Side::before)) {
    ++old_line_;
    --old_count_;
  }
  if (line.is_on(Side::after)) {
    ++new_line_;
    --new_count_;
  }
  return line;
}

void SideLines::note() {
  if (!read_on_ || noted_ - rest_.size() < kReadOnBytes) return;
  read_on_();
  noted_ = rest_.size();
}

std::optional<HunkLine> SideLines::next() {
  while (!rest_.empty()) {
    note();
    const std::string_view text = take_diff_line(rest_);
    if (!hunks_.inside()) {
      hunks_.begin(text);
      continue;
    }
    if (const auto line = hunks_.take(text); line && line->is_on(side_)) return line;
  }
  return std::nullopt;
}

std::string SideLines::text() const {
  std::size_t size = 0;
  for (SideLines counted = *this; const auto line = counted.next();)
    size += line->content.size() + 1;
  std::string text;
  text.reserve(size);
  for (SideLines copied = *this; const auto line = copied.next();) {
    text += line->content;
    text += '\n';
  }
  return text;
}

LinesByOffset::Line LinesByOffset::at(std::size_t offset) {
  while (end_ <= offset) {
    const auto line = lines_.next();
    if (!line) break;
    end_ += line->content.size() + 1;
    line_ = {line->number_on(side_), line->is_changed()};
  }
  return line_;
}

}  // namespace sortie
