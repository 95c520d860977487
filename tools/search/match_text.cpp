#include "tools/search/match_text.h"

#include <algorithm>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 400;          ///< bytes of a line that is shown whole
constexpr std::size_t kBeforeMatch = 120;          ///< of a longer one
constexpr std::size_t kLongestBefore = 64u << 10;  ///< looked back for lines of context

std::string cleaned(std::string_view bytes) {
  std::string text = repair_utf8(bytes);
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::string shown_line(std::string_view line, std::size_t match_begin, std::size_t match_end) {
  if (line.size() <= kLongestLine) return cleaned(line);
  const std::size_t wanted = match_begin > kBeforeMatch ? match_begin - kBeforeMatch : 0;
  const std::size_t begin = std::min(wanted, line.size() - kLongestLine);
  std::string_view part = line.substr(begin, kLongestLine);
  // Not from or to the middle of a character.
  if (begin > 0) part = utf8_suffix(part, part.size() - 1);
  part = utf8_prefix(part, begin + kLongestLine < line.size() ? part.size() - 1 : part.size());
  std::string text = begin > 0 ? "… " : "";
  text += cleaned(part);
  if (begin + kLongestLine < line.size()) text += " …";
  text += " (" + std::to_string(line.size()) + " bytes in this line";
  if (match_end > begin + kLongestLine) text += ", the match goes on";
  return text + ")";
}

void MatchText::put(std::size_t number, char mark, const std::string& line) {
  out_ += std::to_string(number);
  out_ += mark;
  out_ += line;
  out_ += '\n';
}

void MatchText::put_behind(std::size_t end) {
  for (; owed_ > 0 && at_ < end; --owed_) {
    const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
    put(++number_, '-', shown_line(text_.substr(at_, stop - at_), 0, 0));
    at_ = std::min(stop + 1, text_.size());
  }
}

void MatchText::put_before(const LineMatch& match) {
  std::vector<std::size_t> begins;  // of lines before the match, the nearest first
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
    put(number++, '-', shown_line(text_.substr(*one, stop - *one), 0, 0));
  }
}

void MatchText::add(const LineMatch& match) {
  put_behind(match.begin);
  put_before(match);
  put(match.number, ':',
      shown_line(text_.substr(match.begin, match.end - match.begin),
                 match.match_begin - match.begin, match.match_end - match.begin));
  at_ = std::min(match.end + 1, text_.size());
  number_ = match.number;
  owed_ = context_;
}

void MatchText::finish() { put_behind(text_.size()); }

}  // namespace sortie
