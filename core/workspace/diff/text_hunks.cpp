#include "core/workspace/diff/text_hunks.h"

#include <git2.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/git/git_repository.h"

namespace sortie {
namespace {

constexpr std::string_view kNoNewline = "\\ No newline at end of file\n";

/// Takes the first line, with its newline if it has one.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end == text.npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

/// Removes the last line.
std::string_view drop_line(std::string_view& text) {
  auto begin = text.size() < 2 ? text.npos : text.rfind('\n', text.size() - 2);
  begin = begin == text.npos ? 0 : begin + 1;
  const std::string_view line = text.substr(begin);
  text.remove_suffix(line.size());
  return line;
}

std::size_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

void add_lines(std::string& hunk, char sign, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = take_line(lines);
    hunk += sign;
    hunk += line;
    if (line.back() != '\n') (hunk += '\n') += kNoNewline;
  }
}

/// "12,3"; a count of 1 is not written, and no lines are named by the one before them.
std::string span_text(std::size_t skipped, std::size_t count) {
  std::string text = std::to_string(count == 0 ? skipped : skipped + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

/// Both texts without their common lines.
struct Middle {
  std::string_view head;  ///< common lines before
  std::string_view before;
  std::string_view after;
  std::string_view tail;  ///< common lines behind
};

Middle middle_of(std::string_view before, std::string_view after) {
  const auto differs =
      std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
  auto same = static_cast<std::size_t>(differs - before.begin());
  same = same == 0 ? 0 : before.rfind('\n', same - 1) + 1;  // npos + 1 is 0
  Middle middle{before.substr(0, same), before.substr(same), after.substr(same), {}};
  const std::string_view whole = middle.before;
  while (!middle.before.empty() && !middle.after.empty()) {
    std::string_view one = middle.before;
    std::string_view other = middle.after;
    if (drop_line(one) != drop_line(other)) break;
    middle.before = one;
    middle.after = other;
  }
  middle.tail = whole.substr(middle.before.size());
  return middle;
}

TextHunks one_hunk(const Middle& middle, int context_lines) {
  std::string_view head = middle.head;
  std::string_view tail = middle.tail;
  std::size_t shown = 0;
  std::string_view rest = head;
  for (; shown < static_cast<std::size_t>(context_lines) && !rest.empty(); ++shown) drop_line(rest);
  const std::size_t skipped = count_lines(rest);
  head.remove_prefix(rest.size());
  rest = tail;
  for (int i = 0; i < context_lines && !rest.empty(); ++i) take_line(rest);
  tail.remove_suffix(rest.size());

  const std::size_t context = count_lines(head) + count_lines(tail);
  const std::size_t removed = count_lines(middle.before);
  const std::size_t added = count_lines(middle.after);
  TextHunks hunks{{}, static_cast<int>(added), static_cast<int>(removed)};
  hunks.text.reserve(head.size() + tail.size() + middle.before.size() + middle.after.size() +
                     removed + added + context + 100);
  hunks.text = "@@ -" + span_text(skipped, context + removed) + " +" +
               span_text(skipped, context + added) + " @@\n";
  add_lines(hunks.text, ' ', head);
  add_lines(hunks.text, '-', middle.before);
  add_lines(hunks.text, '+', middle.after);
  add_lines(hunks.text, ' ', tail);
  return hunks;
}

int take_header(const git_diff_delta*, const git_diff_hunk* hunk, void* target) {
  static_cast<TextHunks*>(target)->text.append(hunk->header, hunk->header_len);
  return 0;
}

int take_one_line(const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line,
                  void* target) {
  auto& hunks = *static_cast<TextHunks*>(target);
  const char sign = line->origin;
  if (sign == GIT_DIFF_LINE_CONTEXT || sign == GIT_DIFF_LINE_ADDITION ||
      sign == GIT_DIFF_LINE_DELETION)
    hunks.text += sign;
  hunks.added += sign == GIT_DIFF_LINE_ADDITION ? 1 : 0;
  hunks.removed += sign == GIT_DIFF_LINE_DELETION ? 1 : 0;
  hunks.text.append(line->content, line->content_len);
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
  std::string_view line = take_line(hunks);
  line.remove_prefix(1);
  if (!hunks.starts_with('\\')) return line;
  take_line(hunks);
  line.remove_suffix(1);
  return line;
}

}  // namespace

bool is_binary_content(std::string_view content) {
  constexpr std::size_t kLookedAt = 8000;
  return content.substr(0, kLookedAt).find('\0') != content.npos;
}

TextHunks make_hunks(std::string_view before, std::string_view after, int context_lines,
                     std::size_t most_lines) {
  if (before == after) return {};
  if (before.empty() || after.empty()) return one_hunk({{}, before, after, {}}, context_lines);
  if (const Middle middle = middle_of(before, after);
      count_lines(middle.before) + count_lines(middle.after) > most_lines)
    return one_hunk(middle, context_lines);
  start_libgit2();
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT;
  options.context_lines = static_cast<std::uint32_t>(context_lines);
  TextHunks hunks;
  check_git(
      git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr,
                       &options, nullptr, nullptr, take_header, take_one_line, &hunks),
      "diff");
  return hunks;
}

std::string apply_hunks(std::string_view before, std::string_view hunks) {
  std::string made;
  std::size_t line = 1;  // that `before` begins with
  while (!hunks.empty()) {
    std::string_view header = take_line(hunks);
    const Span old = take_span(header, "@@ -");
    Span now = take_span(header, " +");
    std::size_t left = old.count;
    for (const std::size_t first = old.first + (old.count == 0 ? 1 : 0); line < first; ++line) {
      if (before.empty()) throw Error("names a line that is not there");
      made += take_line(before);
    }
    while (left > 0 || now.count > 0) {
      const char sign = hunks.empty() ? '\0' : hunks.front();
      const bool takes = sign == ' ' || sign == '-';
      const bool makes = sign == ' ' || sign == '+';
      if ((!takes && !makes) || (takes && left == 0) || (makes && now.count == 0))
        throw Error("has another number of lines than it says");
      const std::string_view content = take_content(hunks);
      if (takes && take_line(before) != content) throw Error("has other lines than the file");
      left -= takes ? 1 : 0;
      line += takes ? 1 : 0;
      now.count -= makes ? 1 : 0;
      if (makes) made += content;
    }
  }
  return made += before;
}

}  // namespace sortie
