#include "core/text/pattern.h"

#include <re2/re2.h>

#include <algorithm>

namespace sortie {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

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

/// The largest expression for searches in whole files: RE2 may need a step for each state and byte.
constexpr int kLargestProgram = 10'000;

enum class Span { word, folder };

/// An expression for any rest of a name except these words: RE2 has no such operator, but the
/// complement of finitely many words is a regular language.
std::string other_than(const std::vector<std::string_view>& words) {
  if (words.empty()) return "[^/]*";
  std::string firsts;
  std::string expression;
  bool ends = false;
  for (const std::string_view word : words) {
    if (word.empty()) ends = true;
    if (word.empty() || firsts.find(word.front()) != std::string::npos) continue;
    firsts += word.front();
    std::vector<std::string_view> rest;
    for (const std::string_view other : words)
      if (other.substr(0, 1) == word.substr(0, 1)) rest.push_back(other.substr(1));
    expression += "|" + re2::RE2::QuoteMeta(piece(word.substr(0, 1))) + other_than(rest);
  }
  const std::string others =
      firsts.empty() ? "[^/]" : "[^/" + re2::RE2::QuoteMeta(piece(firsts)) + "]";
  return "(?:" + others + "[^/]*" + expression + (ends ? ")" : ")?");
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
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    });
    if (words.back().empty() || !is_word) return std::nullopt;
    begin = bar + 1;
  }
  at = end + 1;
  return other_than(words);
}

/// A glob as an RE2 expression; in a path (Span::folder) `**` crosses folders.
std::string glob_expression(std::string_view glob, Span span) {
  const bool in_folder = span == Span::folder;
  // An absolute glob may be the path of a file with any name.
  const bool relative = in_folder && !glob.starts_with('/');
  std::string expression;
  for (std::size_t i = 0; i < glob.size();) {
    const bool at_name = i == 0 || glob[i - 1] == '/';
    if (in_folder && at_name && glob.substr(i, 3) == "**/") {
      expression += "(?:.*/)?";
      i += 3;
    } else if (in_folder && glob.substr(i, 2) == "**") {
      expression += ".*";
      i += 2;
    } else if (glob[i] == '*') {
      expression += in_folder ? "[^/]*" : ".*";
      ++i;
    } else if (glob[i] == '?') {
      expression += in_folder ? kCharacterInFolder : kCharacter;
      ++i;
    } else if (glob[i] == '[') {
      if (const auto set = set_expression(glob, i, in_folder)) {
        expression += *set;
      } else {
        expression += "\\[";
        ++i;
      }
    } else if (const auto others = relative ? other_expression(glob, i) : std::nullopt) {
      expression += *others;
    } else {
      if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
      expression += re2::RE2::QuoteMeta(re2::StringPiece(&glob[i], 1));
      ++i;
    }
  }
  return expression;
}

}  // namespace

Pattern::Pattern(std::string_view expression, LetterCase letters, bool utf8) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(letters == LetterCase::exact);
  options.set_dot_nl(!utf8);
  options.set_encoding(utf8 ? re2::RE2::Options::EncodingUTF8 : re2::RE2::Options::EncodingLatin1);
  auto compiled = std::make_unique<re2::RE2>(piece(expression), options);
  if (!compiled->ok()) throw PatternError(compiled->error());
  compiled_ = std::move(compiled);
}

Pattern::Pattern(std::unique_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Pattern Pattern::expression(std::string_view expression, LetterCase letters) {
  return Pattern(expression, letters, true);
}

Pattern Pattern::line_expression(std::string_view expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_nl(true);
  // In parentheses, so that the flag holds for every alternative.
  auto compiled = std::make_unique<re2::RE2>("(?m:" + std::string(expression) + ")", options);
  if (!compiled->ok()) throw PatternError(compiled->error());
  if (compiled->ProgramSize() > kLargestProgram)
    throw PatternError("pattern too large - its repetitions come to too many states");
  return Pattern(std::move(compiled));
}

Pattern Pattern::word_glob(std::string_view glob, LetterCase letters) {
  return Pattern(glob_expression(glob, Span::word), letters, false);
}

Pattern Pattern::path_glob(std::string_view glob, LetterCase letters) {
  return path_globs({std::string(glob)}, letters);
}

Pattern Pattern::path_globs(const std::vector<std::string>& globs, LetterCase letters) {
  std::string expression;
  for (std::string_view glob : globs) {
    while (glob.substr(0, 2) == "./") glob.remove_prefix(2);
    while (glob.size() > 1 && glob.back() == '/') glob.remove_suffix(1);
    expression += (expression.empty() ? "" : "|") + glob_expression(glob, Span::folder);
  }
  if (globs.empty()) return Pattern("[^\\x00-\\xff]", letters, false);
  return Pattern("(?:" + expression + ")(?:/.*)?", letters, false);
}

bool Pattern::matches(std::string_view text) const {
  return re2::RE2::FullMatch(piece(text), *compiled_);
}

std::optional<std::pair<std::size_t, std::size_t>> Pattern::find(std::string_view text,
                                                                 std::size_t from) const {
  re2::StringPiece found;
  if (from > text.size() ||
      !compiled_->Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    return std::nullopt;
  }
  return std::pair(static_cast<std::size_t>(found.data() - text.data()), found.size());
}

std::optional<GroupMatch> Pattern::find_group(std::string_view text, std::size_t from,
                                              int group) const {
  if (from > text.size() || group < 0 || group > compiled_->NumberOfCapturingGroups())
    return std::nullopt;
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(group) + 1);
  if (!compiled_->Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, parts.data(),
                        group + 1))
    return std::nullopt;
  GroupMatch match;
  match.begin = static_cast<std::size_t>(parts.front().data() - text.data());
  match.end = match.begin + parts.front().size();
  match.group_begin = match.group_end = match.begin;
  if (parts.back().data() != nullptr) {
    match.group_begin = static_cast<std::size_t>(parts.back().data() - text.data());
    match.group_end = match.group_begin + parts.back().size();
  }
  return match;
}

bool any_matches(const std::vector<Pattern>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& pattern) { return pattern.matches(text); });
}

std::string quoted_glob(const std::string& path) {
  std::string glob;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

}  // namespace sortie
