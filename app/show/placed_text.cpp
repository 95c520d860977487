#include "app/show/placed_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostOfPlaced = 4000;
constexpr std::size_t kMostOfName = 500;

/// Takes a number from 1 off the text's beginning.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number < 1 || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view head) {
  if (!text.starts_with(head)) return false;
  text.remove_prefix(head.size());
  return true;
}

/// `LINE, in f` of `File "FILE", line LINE, in f`.
std::optional<PlacedText> python_place(std::string_view line) {
  if (!take(line, "File \"")) return std::nullopt;
  const std::size_t end = line.find("\", line ");
  if (end == std::string_view::npos || end > kMostOfName) return std::nullopt;
  PlacedText found{.place = {.file = std::string(line.substr(0, end))}};
  line.remove_prefix(end + std::string_view("\", line ").size());
  const auto number = take_number(line);
  if (!number) return std::nullopt;
  found.place.line = *number;
  take(line, ", ");
  found.text = trimmed(line);
  return found;
}

/// What follows a name: ":LINE: TEXT", ":LINE:COLUMN: TEXT", "(LINE,COLUMN): TEXT".
std::optional<PlacedText> place_behind_name(std::string_view rest) {
  PlacedText found;
  const bool in_parentheses = rest.front() == '(';
  rest.remove_prefix(1);
  const auto line = take_number(rest);
  if (!line) return std::nullopt;
  found.place.line = *line;
  std::string_view behind = rest;
  if (take(behind, in_parentheses ? "," : ":"))
    if (const auto column = take_number(behind)) {
      found.place.column = *column;
      rest = behind;
    }
  if (in_parentheses && !take(rest, ")")) return std::nullopt;
  if (!rest.empty() && !take(rest, ":")) return std::nullopt;
  found.text = trimmed(rest);
  return found;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// The calls of a Python traceback, until the line with the exception comes, which is indented less.
class Traceback {
 public:
  void on(std::string_view line, std::vector<PlacedText>& all) {
    if (calls_.empty() || trimmed(line).empty() || indent_of(line) >= indent_) return;
    for (const std::size_t call : calls_) all[call].text = trimmed(line.substr(0, kMostOfPlaced));
    calls_.clear();
  }
  void add(std::string_view line, std::size_t call) {
    if (!trimmed(line).starts_with("File \"")) return;
    if (indent_of(line) != indent_) calls_.clear();
    indent_ = indent_of(line);
    calls_.push_back(call);
  }

 private:
  std::vector<std::size_t> calls_;  ///< in the list of places
  std::size_t indent_ = 0;
};

}  // namespace

std::optional<PlacedText> placed_text(std::string_view line) {
  line = trimmed(line.substr(0, kMostOfPlaced));
  take(line, "--> ");
  if (auto found = python_place(line)) return found;
  for (std::size_t at = line.find_first_of(":("); at < std::min(line.size(), kMostOfName);
       at = line.find_first_of(":(", at + 1)) {
    if (at == 0) return std::nullopt;
    if (auto found = place_behind_name(line.substr(at))) {
      found->place.file = line.substr(0, at);
      return found;
    }
  }
  return std::nullopt;
}

std::vector<PlacedText> placed_texts(std::string_view output) {
  std::vector<PlacedText> all;
  std::string_view before;
  Traceback traceback;
  for (const std::string_view line : split_lines(output)) {
    traceback.on(line, all);
    auto found = placed_text(line);
    const auto is_there = [&](const PlacedText& other) {
      return other.place.file == found->place.file && other.place.line == found->place.line;
    };
    if (found && std::none_of(all.begin(), all.end(), is_there)) {
      if (found->text.empty()) found->text = trimmed(before);
      traceback.add(line, all.size());
      all.push_back(std::move(*found));
    }
    if (!trimmed(line).empty()) before = line;
  }
  return all;
}

}  // namespace sortie
