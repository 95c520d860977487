#include "tools/search/line_search.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

/// Bytes searched between two calls of `go_on`.
constexpr std::size_t kPiece = 64u << 10;
/// Overlap of two windows in a line that is longer than a piece.
constexpr std::size_t kOverlap = 32u << 10;

constexpr std::string_view kSpecialInExpressions = "\\.+*?()|[]{}^$";

/// Bytes of source text, the most frequent first; others are rarer still.
constexpr std::string_view kFrequent =
    " etianrsolcdupmfh_gb\n,()y;0=wv1\"x.T->kESAR2IC:ND/"
    "*LO'3[]{}4P5MU6qF8jBz7G9&<HV+#WK|!%XY@$?QJZ";

std::size_t rareness(char letter) { return std::min(kFrequent.find(letter), kFrequent.size()); }

std::size_t rarest_in(std::string_view text) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < text.size(); ++i)
    if (rareness(text[i]) > rareness(text[best])) best = i;
  return best;
}

/// The end of the piece that begins at `from`: after a line end, or the end of the text.
std::size_t piece_end(std::string_view text, std::size_t from) {
  if (text.size() - from <= kPiece) return text.size();
  const std::size_t end = text.find('\n', from + kPiece);
  return end == text.npos ? text.size() : end + 1;
}

std::size_t line_end(std::string_view text, std::size_t from) {
  return std::min(text.find('\n', from), text.size());
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
  return before == text.npos ? 0 : before + 1;
}

constexpr std::size_t kLongestLine = 400;  ///< bytes of a line that are shown
constexpr std::size_t kBeforeMatch = 120;  ///< bytes shown before the match of a longer line
constexpr std::size_t kLongestBefore = 64u << 10;  ///< bytes searched backwards for context

std::string cleaned(std::string_view bytes) {
  std::string text = repair_utf8(bytes);
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }, ' ');
  return text;
}

/// A line for the model: a long one cut to the part around the match, UTF-8 repaired, control
/// characters except tabs as spaces.
std::string shown_line(std::string_view line, std::size_t match_begin, std::size_t match_end) {
  if (line.size() <= kLongestLine) return cleaned(line);
  const std::size_t wanted = match_begin > kBeforeMatch ? match_begin - kBeforeMatch : 0;
  const std::size_t begin = std::min(wanted, line.size() - kLongestLine);
  std::string_view part = line.substr(begin, kLongestLine);
  // Don't cut inside a character.
  if (begin > 0) part = utf8_suffix(part, part.size() - 1);
  part = utf8_prefix(part, begin + kLongestLine < line.size() ? part.size() - 1 : part.size());
  std::string text = begin > 0 ? "… " : "";
  text += cleaned(part);
  if (begin + kLongestLine < line.size()) text += " …";
  text += " (" + std::to_string(line.size()) + " bytes in this line";
  if (match_end > begin + kLongestLine) text += ", the match goes on";
  return text + ")";
}

}  // namespace

LineSearch::LineSearch(const std::string& expression) {
  if (expression.find('\n') != expression.npos)
    throw PatternError("the pattern contains a newline, but each line is matched separately");
  if (expression.find_first_of(kSpecialInExpressions) == expression.npos && !expression.empty()) {
    plain_ = expression;
    rarest_ = rarest_in(plain_);
    return;
  }
  // Compiled alone first, so that an error quotes the expression as written.
  (void)Pattern::expression(expression);
  pattern_ = Pattern::line_expression(expression);
}

std::optional<LineSearch::Found> LineSearch::find_plain(std::string_view text,
                                                        std::size_t from) const {
  const char* const end = text.data() + text.size();
  const char* at = text.data() + from + rarest_;
  while (at < end) {
    at = static_cast<const char*>(
        std::memchr(at, plain_[rarest_], static_cast<std::size_t>(end - at)));
    if (at == nullptr) return std::nullopt;
    const auto begin = static_cast<std::size_t>(at - text.data()) - rarest_;
    if (begin + plain_.size() > text.size()) return std::nullopt;
    if (std::memcmp(text.data() + begin, plain_.data(), plain_.size()) == 0)
      return Found{begin, begin + plain_.size()};
    ++at;
  }
  return std::nullopt;
}

std::optional<LineSearch::Found> LineSearch::find_in_windows(
    std::string_view text, std::size_t from, const std::function<bool()>& go_on) const {
  std::size_t window = kPiece + kOverlap;
  while (true) {
    const std::size_t end = text.size() - from > window ? from + window : text.size();
    const auto found = pattern_->find(text.substr(0, end), from);
    const std::size_t found_end = found ? found->first + found->second : 0;
    if (found && (found_end < end || end == text.size())) return Found{found->first, found_end};
    if (end == text.size() || !go_on()) return std::nullopt;
    // A match at the end of the window may continue after it, or exist only because the window
    // ends.
    if (!found)
      from = end - kOverlap;
    else if (found->first > from)
      from = found->first;
    else
      window *= 2;
  }
}

std::optional<LineSearch::Found> LineSearch::find(std::string_view text, std::size_t from,
                                                  const std::function<bool()>& go_on) const {
  return plain_.empty() ? find_in_windows(text, from, go_on) : find_plain(text, from);
}

bool LineSearch::search(std::string_view text, const std::function<bool(const LineMatch&)>& take,
                        const std::function<bool()>& go_on) const {
  std::size_t at = 0;
  std::size_t counted = 0;  // lines are counted up to here
  std::size_t number = 1;
  while (at < text.size()) {
    if (!go_on()) return false;
    const std::size_t end = piece_end(text, at);
    const std::string_view piece = text.substr(0, end);
    while (at < end) {
      const auto found = find(piece, at, go_on);
      // An empty match after the last line end is not in any line.
      if (!found || (found->begin == end && end > 0 && text[end - 1] == '\n')) break;
      LineMatch line;
      line.begin = line_begin(text, found->begin);
      line.end = line_end(text, found->begin);
      line.match_begin = found->begin;
      line.match_end = std::min(found->end, line.end);
      number += static_cast<std::size_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                     text.begin() + static_cast<std::ptrdiff_t>(line.begin), '\n'));
      counted = line.begin;
      line.number = number;
      if (!take(line)) return true;
      at = line.end + 1;
    }
    at = std::max(at, end);
  }
  return true;
}

void MatchText::write_line(std::size_t number, char mark, const std::string& line) {
  out_ += std::to_string(number);
  out_ += mark;
  out_ += line;
  out_ += '\n';
}

void MatchText::write_after(std::size_t end) {
  for (; owed_ > 0 && at_ < end; --owed_) {
    const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
    write_line(++number_, '-', shown_line(text_.substr(at_, stop - at_), 0, 0));
    at_ = std::min(stop + 1, text_.size());
  }
}

void MatchText::write_before(const LineMatch& match) {
  std::vector<std::size_t> begins;  // lines before the match, nearest first
  const std::size_t first =
      std::max(number_ == 0 ? 0 : at_,
               match.begin > kLongestBefore ? match.begin - kLongestBefore : std::size_t{0});
  std::size_t begin = match.begin;
  while (begins.size() < context_ && begin > first) {
    const std::size_t before = begin < 2 ? text_.npos : text_.rfind('\n', begin - 2);
    const std::size_t next = before == text_.npos ? 0 : before + 1;
    if (next < first) break;
    begins.push_back(begin = next);
  }
  if (context_ > 0 && number_ != 0 && begin > at_) out_ += "--\n";
  std::size_t number = match.number - begins.size();
  for (auto one = begins.rbegin(); one != begins.rend(); ++one) {
    const std::size_t stop = std::min(text_.find('\n', *one), text_.size());
    write_line(number++, '-', shown_line(text_.substr(*one, stop - *one), 0, 0));
  }
}

void MatchText::add(const LineMatch& match) {
  write_after(match.begin);
  write_before(match);
  write_line(match.number, ':',
             shown_line(text_.substr(match.begin, match.end - match.begin),
                        match.match_begin - match.begin, match.match_end - match.begin));
  at_ = std::min(match.end + 1, text_.size());
  number_ = match.number;
  owed_ = context_;
}

void MatchText::finish() { write_after(text_.size()); }

}  // namespace sortie
