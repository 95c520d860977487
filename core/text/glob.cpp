#include "core/text/glob.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

/// One UTF-8 character, or any single invalid byte.
constexpr const char* kCharacter =
    "(?:[\\x00-\\x7f]|[\\xc2-\\xf4][\\x80-\\xbf]{1,3}|[\\x80-\\xff])";
constexpr const char* kCharacterInFolder =
    "(?:[\\x00-\\x2e\\x30-\\x7f]|[\\xc2-\\xf4][\\x80-\\xbf]{1,3}|[\\x80-\\xff])";

/// Reads a glob's set that starts at `at` ("[a-z]"); on success moves `at` past it.
std::optional<std::string> set_expression(std::string_view glob, std::size_t& at, bool in_folder) {
  std::size_t i = at + 1;
  std::string set = "[";
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) {
    set += in_folder ? "^/" : "^";
    ++i;
  }
  const std::size_t first = i;
  for (; i < glob.size() && (glob[i] != ']' || i == first); ++i) {
    const char letter = glob[i];
    if (in_folder && letter == '/') return std::nullopt;
    const bool is_range = letter == '-' && i > first && i + 1 < glob.size() && glob[i + 1] != ']';
    if (is_range) {
      if (glob[i - 1] > glob[i + 1]) return std::nullopt;
      set += '-';
    } else {
      set += re2::RE2::QuoteMeta(re2::StringPiece(&letter, 1));
    }
  }
  if (i >= glob.size()) return std::nullopt;
  at = i + 1;
  return set + "]";
}

void add_quoted(char c, std::string& expression) {
  if (!is_ascii_alphanumeric(c) && c != '_') expression += '\\';
  expression += c;
}

/// Adds an expression for any rest of a name except those of these words: RE2 has no such operator,
/// but the complement of finitely many words is a regular language.
/// @param words  sorted, of letters, digits, '.', '_' and '-'
/// @param at     where their rests begin: up to there they are the same
void add_other_than(std::span<const std::string_view> words, std::size_t at,
                    std::string& expression) {
  bool ends = false;
  while (!words.empty() && words.front().size() == at) {
    ends = true;
    words = words.subspan(1);
  }
  expression += "(?:[^/";
  char last = '\0';
  for (const std::string_view word : words)
    if (word[at] != std::exchange(last, word[at])) add_quoted(last, expression);
  expression += "][^/]*";
  while (!words.empty()) {
    const char first = words.front()[at];
    std::size_t count = 1;
    while (count < words.size() && words[count][at] == first) ++count;
    expression += '|';
    add_quoted(first, expression);
    add_other_than(words.first(count), at + 1, expression);
    words = words.subspan(count);
  }
  expression += ends ? ")" : ")?";
}

/// Reads the words of "!(a|b)" that starts at `at`; on success moves `at` past it.
std::optional<std::string> other_expression(std::string_view glob, std::size_t& at) {
  const std::size_t end = glob.find(')', at);
  if (glob.substr(at, 2) != "!(" || end == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> words;
  for (std::size_t begin = at + 2; begin <= end;) {
    const std::size_t bar = std::min(glob.find('|', begin), end);
    words.push_back(glob.substr(begin, bar - begin));
    const bool is_word = std::all_of(words.back().begin(), words.back().end(), [](char c) {
      return is_ascii_alphanumeric(c) || c == '.' || c == '_' || c == '-';
    });
    if (words.back().empty() || !is_word) return std::nullopt;
    begin = bar + 1;
  }
  at = end + 1;
  std::sort(words.begin(), words.end());
  std::string expression;
  add_other_than(words, 0, expression);
  return expression;
}

/// The parts of an expression, as they are read.
class Expression {
 public:
  /// Something that is no literal character.
  void add(std::string_view part) {
    result_.expression += part;
    end_run();
  }
  void literal(char c) {
    if (c == '/')
      result_.expression += c;
    else if (c > ' ' && c < '\x7f')
      add_quoted(c, result_.expression);
    else
      result_.expression += re2::RE2::QuoteMeta(re2::StringPiece(&c, 1));
    // Other bytes have two cases in Latin-1, as which RE2 reads them.
    if (static_cast<unsigned char>(c) < 0x80)
      run_ += c;
    else
      end_run();
  }
  GlobExpression take() {
    end_run();
    return std::move(result_);
  }

 private:
  void end_run() {
    if (run_.size() > result_.needed.size()) result_.needed = run_;
    run_.clear();
  }

  GlobExpression result_{};
  std::string run_{};
};

}  // namespace

GlobExpression glob_expression(std::string_view glob, GlobSpan span) {
  const bool in_folder = span == GlobSpan::folder;
  // An absolute glob may be the path of a file with any name.
  const bool relative = in_folder && !glob.starts_with('/');
  Expression expression;
  for (std::size_t i = 0; i < glob.size();) {
    const bool at_name = i == 0 || glob[i - 1] == '/';
    if (in_folder && at_name && glob.substr(i, 3) == "**/") {
      expression.add("(?:.*/)?");
      i += 3;
    } else if (in_folder && glob.substr(i, 2) == "**") {
      expression.add(".*");
      i += 2;
    } else if (glob[i] == '*') {
      expression.add(in_folder ? "[^/]*" : ".*");
      ++i;
    } else if (glob[i] == '?') {
      expression.add(in_folder ? kCharacterInFolder : kCharacter);
      ++i;
    } else if (glob[i] == '[') {
      if (const auto set = set_expression(glob, i, in_folder)) {
        expression.add(*set);
      } else {
        expression.literal('[');
        ++i;
      }
    } else if (const auto others = relative ? other_expression(glob, i) : std::nullopt) {
      expression.add(*others);
    } else {
      if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
      expression.literal(glob[i]);
      ++i;
    }
  }
  return expression.take();
}

}  // namespace sortie
