#include "policies/engine/typed_input.h"

#include <algorithm>

#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr char kInterrupt = '\x03';  // control-C
constexpr char kHandOver = '\x04';   // control-D
constexpr char kEraseWord = '\x17';  // control-W
constexpr char kEraseLine = '\x15';  // control-U
constexpr char kEscape = '\x1b';

bool is_newline(char c) { return c == '\n' || c == '\r'; }
bool erases_one(char c) { return c == '\b' || c == '\x7f'; }
bool is_printed(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\x7f'; }

/// The effect of control-D after other text on its line.
enum class EndKey { hands_over, ends_line };

/// The lines that a terminal makes of typed keys, without erased characters and other control
/// characters.
std::string as_edited(std::string_view typed, EndKey end_key) {
  std::string text;
  const auto line = [&text] {
    const std::size_t newline = text.rfind('\n');
    return newline == std::string::npos ? 0 : newline + 1;
  };
  for (const char c : typed) {
    if (is_newline(c)) {
      text += '\n';
    } else if (c == kHandOver) {
      if (end_key == EndKey::ends_line && text.size() > line()) text += '\n';
    } else if (erases_one(c)) {
      if (text.size() > line()) text.pop_back();
    } else if (c == kEraseLine || c == kInterrupt) {
      text.resize(line());
    } else if (c == kEraseWord) {
      while (text.size() > line() && text.back() == ' ') text.pop_back();
      while (text.size() > line() && text.back() != ' ') text.pop_back();
    } else if (is_printed(c) || c == '\t') {
      text += c;
    }
  }
  return text;
}

std::string without_controls(std::string_view typed) {
  std::string text;
  for (const char c : typed) {
    if (is_newline(c))
      text += '\n';
    else if (is_printed(c))
      text += c;
    else if (c == '\t')
      text += ' ';
  }
  return text;
}

std::vector<std::string> different(std::vector<std::string> texts) {
  std::vector<std::string> kept;
  for (auto& text : texts)
    if (std::find(kept.begin(), kept.end(), text) == kept.end()) kept.push_back(std::move(text));
  return kept;
}

std::vector<std::string> edited_readings(std::string_view typed) {
  return different({as_edited(typed, EndKey::hands_over), as_edited(typed, EndKey::ends_line)});
}

std::vector<std::string> all_readings(std::string_view typed) {
  return different({without_controls(typed), as_edited(typed, EndKey::hands_over),
                    as_edited(typed, EndKey::ends_line)});
}

/// Whether the line continues after its newline in any possible reading.
bool is_continued(std::string_view line) {
  const auto readings = all_readings(line);
  return std::any_of(readings.begin(), readings.end(), [](std::string_view text) {
    std::size_t slashes = 0;
    while (slashes < text.size() && text[text.size() - 1 - slashes] == '\\') ++slashes;
    return slashes % 2 == 1;
  });
}

std::string name_of_key(char c) {
  if (c == kEscape) return "the escape character, or a key that a line editor may act on,";
  if (c == '\t') return "a tab";
  if (static_cast<unsigned char>(c) >= 0x20) return "DEL";
  return std::string("control-") + static_cast<char>(c + '@');
}

/// Commands that change what later typed keys mean.
constexpr std::string_view kKeyChangers[] = {"stty", "bind", "bindkey", "fc"};

std::string_view find_key_changer(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_of(kLetters, at), text.size());
    const std::size_t end = std::min(text.find_first_not_of(kLetters, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (is_one_of(word, kKeyChangers)) return word;
    at = end;
  }
  return {};
}

/// What in one line of the input, without its newline, the readings don't cover; or "".
std::string problem_of_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of("\x03\x04\x1c");
  if (first == std::string_view::npos) return "";
  line.remove_prefix(first);
  bool erases = false;
  int ends = 0;
  int interrupts = 0;
  for (const char c : line) {
    if (erases_one(c) || c == kEraseLine)
      erases = true;
    else if (c == kHandOver)
      ++ends;
    else if (c == kInterrupt)
      ++interrupts;
    else if (!is_printed(c) && c != '\t')
      return name_of_key(c) + " can't be checked";
  }
  // Whether an erase key reaches past the control character depends on the program that reads.
  if (ends + interrupts > 1 || (ends + interrupts == 1 && erases))
    return "control-C or control-D within a line, together with another of them or an erase key, can't be "
           "judged";
  return "";
}

}  // namespace

std::string_view unfinished_input(std::string_view typed) {
  for (std::size_t end = typed.size(); end > 0; --end) {
    if (!is_newline(typed[end - 1])) continue;
    const std::size_t before =
        end < 2 ? std::string_view::npos : typed.find_last_of("\r\n", end - 2);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (!is_continued(typed.substr(begin, end - 1 - begin))) return typed.substr(end);
  }
  return typed;
}

std::string with_editor_keys_marked(std::string_view typed) {
  std::string marked;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const char c = typed[i];
    const char next = i + 1 < typed.size() ? typed[i + 1] : ' ';
    const bool at_start = i == 0 || !is_printed(typed[i - 1]);
    const bool history =
        (c == '!' && std::string_view(" \t\r\n=(\"").find(next) == std::string_view::npos) ||
        (c == '^' && at_start);
    if (history || c == '\t' || static_cast<unsigned char>(c) >= 0x80) marked += kEscape;
    marked += c;
  }
  return marked;
}

TypedReadings read_typed(std::string_view typed) {
  TypedReadings readings;
  readings.possible = all_readings(typed);
  // Only a program without a terminal gets erased text.
  const bool erases = typed.find_first_of("\b\x7f\x15\x17") != std::string_view::npos;
  readings.likely = erases ? edited_readings(typed) : readings.possible;
  if (unfinished_input(typed).size() > kLongestTypedLine)
    readings.problem =
        "a line of more than " + size_in_words(kLongestTypedLine) + " can't be checked";
  for (std::size_t at = 0; at <= typed.size() && readings.problem.empty();) {
    const std::size_t end = std::min(typed.find_first_of("\r\n", at), typed.size());
    readings.problem = problem_of_line(typed.substr(at, end - at));
    at = end + 1;
  }
  if (const auto word = find_key_changer(readings.possible.front());
      readings.problem.empty() && !word.empty())
    readings.problem =
        std::string(word) + ", which may change the meaning of later input, can't be checked";
  return readings;
}

}  // namespace sortie
