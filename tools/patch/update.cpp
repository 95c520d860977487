#include "tools/patch/update.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "tools/patch/hints.h"
#include "tools/patch/matcher.h"
#include "tools/patch/nearest.h"

namespace sortie::patch {
namespace {

using Kind = ChunkLine::Kind;
using Pattern = std::vector<std::string_view>;

Pattern old_lines(const std::vector<ChunkLine>& lines) {
  Pattern pattern;
  for (const auto& line : lines)
    if (line.kind != Kind::added) pattern.push_back(line.text);
  return pattern;
}

/// The chunk once more without the empty line that ends its pattern: at the end of a file models
/// write one for the final newline. A trailing empty new line goes with it.
std::vector<ChunkLine> without_last_empty(std::vector<ChunkLine> lines) {
  const auto last_old = std::find_if(
      lines.rbegin(), lines.rend(), [](const ChunkLine& line) { return line.kind != Kind::added; });
  if (last_old->kind == Kind::context)
    last_old->kind = Kind::added;  // no longer looked for, and still a new line
  else
    lines.erase(std::next(last_old).base());
  const auto last_new = std::find_if(lines.rbegin(), lines.rend(), [](const ChunkLine& line) {
    return line.kind != Kind::removed;
  });
  if (last_new == lines.rend() || !last_new->text.empty()) return lines;
  if (last_new->kind == Kind::context)
    last_new->kind = Kind::removed;
  else
    lines.erase(std::next(last_new).base());
  return lines;
}

class Update {
 public:
  Update(std::string_view content, const Hunk& hunk, const std::stop_token& stop)
      : content_(content), hunk_(hunk), stop_(stop), file_(content) {}

  std::string run() {
    out_.reserve(content_.size() + added_bytes());
    for (const auto& chunk : hunk_.chunks) apply(chunk);
    keep_until(file_.size());
    out_ += appended_;
    return std::move(out_);
  }

 private:
  std::size_t added_bytes() const {
    std::size_t bytes = file_.line_end().size();  // of the last line
    for (const auto& chunk : hunk_.chunks)
      for (const auto& line : chunk.lines)
        if (line.kind == Kind::added) bytes += line.text.size() + file_.line_end().size();
    return bytes;
  }

  void apply(const Chunk& chunk) {
    if (stop_.stop_requested()) throw_stopped();
    if (chunk.anchor) find_anchor(chunk);
    const Pattern pattern = old_lines(chunk.lines);
    if (pattern.empty()) {
      for (const auto& line : chunk.lines) append_line(appended_, line.text);
      return;
    }
    if (const auto place = find(pattern, chunk)) return replace(chunk.lines, *place);
    if (pattern.back().empty()) {
      const auto lines = without_last_empty(chunk.lines);
      const Pattern shorter(pattern.begin(), pattern.end() - 1);
      if (const auto place = find(shorter, chunk)) return replace(lines, *place);
    }
    not_found(chunk, pattern);
  }

  void find_anchor(const Chunk& chunk) {
    const Pattern anchor{*chunk.anchor};
    const auto place = file_.find(anchor, cursor_);
    if (!place)
      fail("Failed to find context '" + *chunk.anchor + "' in " + hunk_.path + "\n", chunk, anchor,
           anchor_hint(file_, *chunk.anchor, cursor_));
    cursor_ = *place + 1;
  }

  std::optional<std::size_t> find(const Pattern& pattern, const Chunk& chunk) {
    // Nothing to look for is found at once, also by a chunk that ends the file.
    if (pattern.empty()) return cursor_;
    return chunk.end_of_file ? file_.find_at_end(pattern, cursor_) : file_.find(pattern, cursor_);
  }

  void replace(const std::vector<ChunkLine>& lines, std::size_t place) {
    std::size_t index = place;
    std::size_t gap = place;  // where the run of changed lines began
    for (const auto& line : lines) {
      if (line.kind == Kind::context) {
        gap = ++index;
      } else if (line.kind == Kind::removed) {
        keep_until(index);
        kept_ = ++index;
      } else if (gap == file_.size()) {
        append_line(appended_, line.text);  // behind what earlier chunks put there
      } else {
        keep_until(index);
        append_line(out_, line.text);
      }
    }
    cursor_ = index;
  }

  /// Takes over the file's lines before `index`, as they are.
  void keep_until(std::size_t index) {
    if (index <= kept_) return;
    out_ += content_.substr(file_.begin(kept_), file_.begin(index) - file_.begin(kept_));
    if (index == file_.size() && !file_.ended()) out_ += file_.line_end();
    kept_ = index;
  }

  void append_line(std::string& to, std::string_view text) const {
    to.append(text).append(file_.line_end());
  }

  std::string position(const Chunk& chunk) const {
    const auto number = &chunk - hunk_.chunks.data() + 1;
    return "(chunk " + std::to_string(number) + " of " + hunk_.path + ", line " +
           std::to_string(chunk.line) + " of the patch)\n";
  }

  [[noreturn]] void not_found(const Chunk& chunk, const Pattern& pattern) const {
    std::string text = "Failed to find expected lines in " + hunk_.path + ":\n";
    for (const auto line : pattern) text.append(line).push_back('\n');
    fail(std::move(text), chunk, pattern, lines_hint(pattern));
  }

  /// @param hint  what was probably meant; "" where the nearest place is to be told
  [[noreturn]] void fail(std::string text, const Chunk& chunk, const Pattern& sought,
                         const std::string& hint) const {
    text +=
        position(chunk) + (hint.empty() ? nearest_place(file_, sought, cursor_, hunk_.path) : hint);
    text.pop_back();  // its last line's end
    throw ToolError(text);
  }

  std::string_view content_;
  const Hunk& hunk_;
  const std::stop_token& stop_;
  FileLines file_;
  std::size_t cursor_ = 0;  ///< where the next chunk may begin
  std::size_t kept_ = 0;    ///< lines that are in out_, or left out
  std::string out_;
  std::string appended_;  ///< what comes behind the file's last line
};

}  // namespace

std::string update_content(std::string_view content, const Hunk& hunk,
                           const std::stop_token& stop) {
  return Update(content, hunk, stop).run();
}

void throw_stopped() {
  throw ToolError("The patch was stopped before all of it was found; nothing was changed");
}

}  // namespace sortie::patch
