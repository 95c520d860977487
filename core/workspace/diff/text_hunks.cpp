#include "core/workspace/diff/text_hunks.h"

#include <git2.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/git/git_repository.h"
#include "core/workspace/diff/changed_lines.h"

namespace sortie {
namespace {

constexpr std::string_view kNoNewline = "\\ No newline at end of file\n";

/// "12,3"; a count of 1 is not written, and no lines are named by the one before them.
std::string span_text(std::size_t skipped, std::size_t count) {
  std::string text = std::to_string(count == 0 ? skipped : skipped + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

/// Writes the hunks of changes that are known, line by line.
class HunkWriter {
 public:
  HunkWriter(std::string_view before, std::string_view after, int context_lines,
             DiffTextWriter& text)
      : before_(before),
        after_(after),
        old_lines_(count_text_lines(before)),
        context_(static_cast<std::size_t>(context_lines)),
        text_(text) {
    text_.expect(before.size() + after.size() + old_lines_ + count_text_lines(after));
  }

  HunkCounts write(const PackedChanges& changes) {
    PackedChanges::Reader reader(changes);
    PackedChanges::Reader ahead(changes);
    for (auto next = ahead.next(); next;) {
      const ChangedLines first = *next;
      ChangedLines last;
      std::size_t count = 0;
      do {  // changes with little between them share a hunk
        last = *next;
        ++count;
        next = ahead.next();
      } while (next && next->old_line - end_of(last) <= 2 * context_);
      write_header(first, last);
      for (; count > 0; --count) write_change(*reader.next());
      const std::size_t end = std::min(end_of(last) + context_, old_lines_);
      while (old_at_ < end) add(' ', take_common());
    }
    return counts_;
  }

 private:
  static std::size_t end_of(const ChangedLines& change) {
    return std::size_t{change.old_line} + change.old_count;
  }

  void write_header(const ChangedLines& first, const ChangedLines& last) {
    const std::size_t head = std::min<std::size_t>(context_, first.old_line);
    const std::size_t tail = std::min(context_, old_lines_ - end_of(last));
    const std::size_t old_begin = first.old_line - head;
    const std::size_t new_begin = first.new_line - head;
    text_.add("@@ -" + span_text(old_begin, end_of(last) + tail - old_begin) + " +" +
              span_text(new_begin, last.new_line + last.new_count + tail - new_begin) + " @@\n");
    while (old_at_ < old_begin) take_common();
  }

  void write_change(const ChangedLines& change) {
    while (old_at_ < change.old_line) add(' ', take_common());
    for (std::uint32_t i = 0; i < change.old_count; ++i) add('-', take_text_line(before_));
    for (std::uint32_t i = 0; i < change.new_count; ++i) add('+', take_text_line(after_));
    old_at_ += change.old_count;
    counts_.removed += static_cast<int>(change.old_count);
    counts_.added += static_cast<int>(change.new_count);
  }

  std::string_view take_common() {
    ++old_at_;
    take_text_line(after_);
    return take_text_line(before_);
  }

  void add(char sign, std::string_view line) {
    text_.add(sign);
    text_.add(line);
    if (line.back() == '\n') return;
    text_.add('\n');
    text_.add(kNoNewline);
  }

  std::string_view before_;  ///< what is left
  std::string_view after_;
  std::size_t old_lines_;
  std::size_t context_;
  std::size_t old_at_ = 0;
  DiffTextWriter& text_;
  HunkCounts counts_;
};

/// Takes what libgit2 writes.
struct LibgitHunks {
  DiffTextWriter& text;
  HunkCounts counts{};
};

int take_header(const git_diff_delta*, const git_diff_hunk* hunk, void* target) {
  static_cast<LibgitHunks*>(target)->text.add({hunk->header, hunk->header_len});
  return 0;
}

int take_one_line(const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line,
                  void* target) {
  auto& hunks = *static_cast<LibgitHunks*>(target);
  const char sign = line->origin;
  if (sign == GIT_DIFF_LINE_CONTEXT || sign == GIT_DIFF_LINE_ADDITION ||
      sign == GIT_DIFF_LINE_DELETION)
    hunks.text.add(sign);
  hunks.counts.added += sign == GIT_DIFF_LINE_ADDITION ? 1 : 0;
  hunks.counts.removed += sign == GIT_DIFF_LINE_DELETION ? 1 : 0;
  hunks.text.add({line->content, line->content_len});
  return 0;
}

/// A line number or count of a hunk's header.
std::size_t take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) throw Error("has a hunk without numbers");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct Span {
  std::size_t first = 0;
  std::size_t count = 1;
};

Span take_span(std::string_view& text, std::string_view sign) {
  if (!text.starts_with(sign)) throw Error("has a hunk without " + std::string(sign));
  text.remove_prefix(sign.size());
  Span span{take_number(text), 1};
  if (!text.starts_with(',')) return span;
  text.remove_prefix(1);
  span.count = take_number(text);
  return span;
}

/// A line of a hunk, as it is in the file.
std::string_view take_content(std::string_view& hunks) {
  std::string_view line = take_text_line(hunks);
  line.remove_prefix(1);
  if (!hunks.starts_with('\\')) return line;
  take_text_line(hunks);
  line.remove_suffix(1);
  return line;
}

/// @param take  gets the parts of what the hunks make, in order
template <typename Take>
void follow_hunks(std::string_view before, std::string_view hunks, const Take& take,
                  const ReadOn& read_on = {}) {
  std::size_t noted = hunks.size();
  std::size_t line = 1;  // that `before` begins with
  while (!hunks.empty()) {
    std::string_view header = take_text_line(hunks);
    const Span old = take_span(header, "@@ -");
    Span now = take_span(header, " +");
    std::size_t left = old.count;
    for (const std::size_t first = old.first + (old.count == 0 ? 1 : 0); line < first; ++line) {
      if (before.empty()) throw Error("names a line that is not there");
      take(take_text_line(before));
    }
    while (left > 0 || now.count > 0) {
      const char sign = hunks.empty() ? '\0' : hunks.front();
      const bool takes = sign == ' ' || sign == '-';
      const bool makes = sign == ' ' || sign == '+';
      if ((!takes && !makes) || (takes && left == 0) || (makes && now.count == 0))
        throw Error("has another number of lines than it says");
      const std::string_view content = take_content(hunks);
      if (takes && take_text_line(before) != content) throw Error("has other lines than the file");
      left -= takes ? 1 : 0;
      line += takes ? 1 : 0;
      now.count -= makes ? 1 : 0;
      if (makes) take(content);
      if (read_on && noted - hunks.size() >= kReadOnBytes) {
        read_on();
        noted = hunks.size();
      }
    }
  }
  take(before);
}

}  // namespace

bool is_binary_content(std::string_view content) {
  constexpr std::size_t kLookedAt = 8000;
  return content.substr(0, kLookedAt).find('\0') != content.npos;
}

HunkCounts make_hunks(std::string_view before, std::string_view after, int context_lines,
                      DiffTextWriter& text, std::size_t most_lines) {
  if (before == after) return {};
  if (before.empty() || after.empty() ||
      count_text_lines(before) + count_text_lines(after) > most_lines)
    return HunkWriter(before, after, context_lines, text)
        .write(changed_lines(before, after, most_lines));
  start_libgit2();
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT;
  options.context_lines = static_cast<std::uint32_t>(context_lines);
  LibgitHunks hunks{text};
  check_git(
      git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr,
                       &options, nullptr, nullptr, take_header, take_one_line, &hunks),
      "diff");
  return hunks.counts;
}

std::string apply_hunks(std::string_view before, std::string_view hunks) {
  std::string made;
  follow_hunks(before, hunks, [&](std::string_view part) { made += part; });
  return made;
}

bool hunks_give(std::string_view before, std::string_view hunks, std::string_view after,
                const ReadOn& read_on) {
  bool equal = true;
  const auto compare = [&](std::string_view part) {
    equal = equal && after.starts_with(part);
    after.remove_prefix(equal ? part.size() : 0);
  };
  follow_hunks(before, hunks, compare, read_on);
  return equal && after.empty();
}

}  // namespace sortie
