#include "tools/mcp/transport/line_reader.h"

#include "core/text/text.h"

namespace sortie::mcp {

void LineReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (!passing_over_ && held_.size() + part.size() > max_bytes_) {
      passing_over_ = true;
      sink_.too_long(held_.size() + part.size());
      held_ = {};
    }
    if (end == std::string_view::npos) {
      if (!passing_over_) grow_by(held_, part);
    } else if (passing_over_) {
      passing_over_ = false;
    } else if (held_.empty()) {
      give(part);
    } else {
      grow_by(held_, part);
      const std::string line = std::move(held_);
      held_ = {};
      give(line);
    }
  }
}

void LineReader::give(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  sink_.line(line);
}

}  // namespace sortie::mcp
