#include "tools/files/line_window.h"

#include <algorithm>
#include <cstdio>

#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 2000;  ///< bytes shown of a line

}  // namespace

void LineWindow::take(std::string_view part) {
  if (part.empty()) return;
  last_ = part.back();
  line_bytes_ += part.size();
  if (!in_window()) return;
  // One more, so that a CR at the border is not shown as part of the line.
  const std::size_t room = kLongestLine + 1 - std::min(line_.size(), kLongestLine + 1);
  line_.append(part.substr(0, room));
}

void LineWindow::end_line() {
  if (in_window()) {
    char prefix[32];
    std::snprintf(prefix, sizeof prefix, "%6llu\t", static_cast<unsigned long long>(total_ + 1));
    const bool ends_in_cr = last_ == '\r' && line_bytes_ > 0;
    if (ends_in_cr) {
      ++carriage_returns_;
      --line_bytes_;
      if (line_.size() > line_bytes_) line_.pop_back();
    }
    const std::string_view kept = utf8_prefix(line_, kLongestLine);
    std::string one = prefix;
    if (!is_utf8(kept)) repaired_ = true;
    one += repair_utf8(kept);
    if (line_bytes_ > kLongestLine) one += " … (" + size_in_words(line_bytes_) + " in this line)";
    one += '\n';
    if (shown_ > 0 && text_.size() + one.size() > room_) {
      full_ = true;
    } else {
      text_ += one;
      full_ = ++shown_ == lines_;
    }
  }
  ++total_;
  line_.clear();
  line_bytes_ = 0;
  last_ = 0;
}

void LineWindow::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    if (end == piece.npos) return take(piece);
    take(piece.substr(0, end));
    end_line();
    piece.remove_prefix(end + 1);
  }
}

void LineWindow::finish() {
  if (line_bytes_ > 0) end_line();
}

}  // namespace sortie
