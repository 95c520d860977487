#include "tools/patch/update.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/text/text.h"
#include "tools/patch/hints.h"
#include "tools/patch/matcher.h"

namespace sortie::patch {
namespace {

constexpr std::size_t kShownDifferences = 5;
constexpr std::size_t kLongestCompared = 200;  ///< bytes compared of a line
constexpr std::size_t kMostCompared = 20'000;  ///< lines compared of a file
constexpr std::size_t kMostRepeats = 20;       ///< repeats counted of one line in a pattern

struct Window {
  std::size_t start = 0;
  std::size_t equal_lines = 0;
};

/// The place that shares the most lines with the pattern, not counting blank ones.
std::optional<Window> by_equal_lines(const FileLines& file,
                                     const std::vector<std::string_view>& pattern) {
  std::unordered_map<std::string, std::vector<std::size_t>> wanted;
  for (std::size_t i = 0; i < pattern.size() && i < 1000; ++i) {
    std::string text = comparable(pattern[i], Leniency::signs);
    if (text.empty()) continue;
    auto& places = wanted[std::move(text)];
    if (places.size() < kMostRepeats) places.push_back(i);
  }
  std::vector<std::uint32_t> votes(file.size());
  Window best;
  for (std::size_t line = 0; line < file.size(); ++line) {
    const auto found = wanted.find(comparable(file.text(line), Leniency::signs));
    if (found == wanted.end()) continue;
    for (const std::size_t i : found->second) {
      if (i > line) continue;
      const std::size_t start = line - i;
      if (++votes[start] > best.equal_lines) best = {start, votes[start]};
    }
  }
  if (best.equal_lines == 0) return std::nullopt;
  return best;
}

/// The place of the line most similar to the pattern's longest line; nothing if more than a third
/// of it differs.
std::optional<Window> by_similar_line(const FileLines& file,
                                      const std::vector<std::string_view>& pattern) {
  if (file.size() > kMostCompared) return std::nullopt;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i].size() > pattern[longest].size()) longest = i;
  const std::string wanted =
      comparable(pattern[longest].substr(0, kLongestCompared), Leniency::signs);
  std::size_t least = wanted.size() / 3 + 1;
  std::optional<Window> best;
  for (std::size_t line = longest; line < file.size(); ++line) {
    const std::string text =
        comparable(file.text(line).substr(0, kLongestCompared), Leniency::signs);
    const std::size_t apart =
        text.size() > wanted.size() ? text.size() - wanted.size() : wanted.size() - text.size();
    if (apart >= least) continue;
    const std::size_t distance = edit_distance(wanted, text);
    if (distance >= least) continue;
    least = distance;
    best = Window{line - longest, 0};
  }
  return best;
}

std::string differences(const FileLines& file, const std::vector<std::string_view>& pattern,
                        std::size_t start) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t line = start + i;
    const bool beyond = line >= file.size();
    if (!beyond &&
        comparable(file.text(line), Leniency::signs) == comparable(pattern[i], Leniency::signs))
      continue;
    if (++shown > kShownDifferences) return text + "  …\n";
    text += "  line " + std::to_string(line + 1) + " is ";
    text += beyond ? "past the end of the file" : in_quotes(file.text(line), kLongestCompared);
    text += ", the patch has " + in_quotes(pattern[i], kLongestCompared) + "\n";
  }
  return text;
}

using Kind = ChunkLine::Kind;
using Pattern = std::vector<std::string_view>;

Pattern old_lines(const std::vector<ChunkLine>& lines) {
  Pattern pattern;
  for (const auto& line : lines)
    if (line.kind != Kind::added) pattern.push_back(line.text);
  return pattern;
}

/// The chunk without the empty line at the end of its pattern, which models write for the final
/// newline of a file. A trailing empty new line is removed with it.
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

/// Describes for the model where lines that were not found match best: the file's lines N–M and
/// what differs there, or that they come before `from`, or that nothing is similar.
std::string nearest_place(const FileLines& file, const std::vector<std::string_view>& pattern,
                          std::size_t from, const std::string& path) {
  if (pattern.empty()) return "";
  if (file.size() == 0) return path + " is empty.\n";
  auto window = by_equal_lines(file, pattern);
  if (!window) window = by_similar_line(file, pattern);
  if (!window)
    return (pattern.size() == 1 ? "There is no such line in " : "None of these lines is in ") +
           path + ", which has " + std::to_string(file.size()) +
           (file.size() == 1 ? " line" : " lines") + ": read it again.\n";
  const std::size_t end = std::min(window->start + pattern.size(), file.size());
  std::string text = "The closest match is " + path + ", line" +
                     (end - window->start > 1
                          ? "s " + std::to_string(window->start + 1) + "–" + std::to_string(end)
                          : " " + std::to_string(end));
  const std::string apart = differences(file, pattern, window->start);
  if (!apart.empty()) return text + ":\n" + apart;
  if (window->start < from)
    return text +
           ", but it comes before the previous chunk or anchor: chunks must be in file order.\n";
  return text + ", but it is not at the end of the file, as '*** End of File' requires.\n";
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
    std::size_t bytes = file_.line_end().size();  // for the last line
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
    // An empty pattern matches at once, even at the end of the file.
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
        append_line(appended_, line.text);  // after what earlier chunks appended
      } else {
        keep_until(index);
        append_line(out_, line.text);
      }
    }
    cursor_ = index;
  }

  /// Copies the file's lines before `index` unchanged.
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

  /// @param hint  shown instead of the nearest place; "" for none
  [[noreturn]] void fail(std::string text, const Chunk& chunk, const Pattern& sought,
                         const std::string& hint) const {
    text +=
        position(chunk) + (hint.empty() ? nearest_place(file_, sought, cursor_, hunk_.path) : hint);
    text.pop_back();  // the final newline
    throw ToolError(text);
  }

  std::string_view content_;
  const Hunk& hunk_;
  const std::stop_token& stop_;
  FileLines file_;
  std::size_t cursor_ = 0;  ///< where the next chunk may begin
  std::size_t kept_ = 0;    ///< lines of the file that are copied or removed
  std::string out_;
  std::string appended_;  ///< text after the file's last line
};

}  // namespace

std::string update_content(std::string_view content, const Hunk& hunk,
                           const std::stop_token& stop) {
  return Update(content, hunk, stop).run();
}

void throw_stopped() {
  throw ToolError("The patch was stopped before it was complete; nothing was changed");
}

}  // namespace sortie::patch
