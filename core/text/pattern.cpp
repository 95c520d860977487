#include "core/text/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/text/glob.h"
#include "core/text/name_filter.h"

namespace sortie {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// The largest expression for searches in whole files: RE2 may need a step for each state and byte.
constexpr int kLargestProgram = 10'000;

/// Globs up to this size can't exceed RE2's memory, so that they need not be compiled to be checked.
constexpr std::size_t kLongestUnchecked = 16'384;

/// Bytes of texts after which a pattern is compiled: from then on that costs less than to look for
/// what a match needs.
constexpr std::size_t kMuchText = 65'536;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Walks through the places of one character.
class Places {
 public:
  Places(std::string_view text, char wanted) : text_(text), wanted_(wanted) { find_from(0); }
  std::size_t at() const noexcept { return at_; }
  void pass(std::size_t place) {
    if (at_ == place) find_from(place + 1);
  }

 private:
  void find_from(std::size_t from) { at_ = text_.find(wanted_, from); }

  std::string_view text_;
  char wanted_;
  std::size_t at_ = std::string_view::npos;
};

/// Looks at the places of the first letter only, which are found many bytes at a time.
bool contains_in_any_case(std::string_view text, const std::string& needed) {
  if (needed.empty()) return true;
  if (needed.size() > text.size()) return false;
  const std::string_view begins = text.substr(0, text.size() - needed.size() + 1);
  Places small(begins, lower(needed.front()));
  Places large(begins, upper(needed.front()));
  for (;;) {
    const std::size_t at = std::min(small.at(), large.at());
    if (at == std::string_view::npos) return false;
    if (std::equal(needed.begin(), needed.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                   [](char n, char c) { return lower(n) == lower(c); }))
      return true;
    small.pass(at);
    large.pass(at);
  }
}

bool contains(std::string_view text, const std::string& needed, LetterCase letters) {
  return letters == LetterCase::exact ? text.find(needed) != std::string_view::npos
                                      : contains_in_any_case(text, needed);
}

std::unique_ptr<const re2::RE2> compile(std::string_view expression,
                                        const re2::RE2::Options& options) {
  auto compiled = std::make_unique<re2::RE2>(piece(expression), options);
  if (!compiled->ok()) throw PatternError(compiled->error());
  return compiled;
}

re2::RE2::Options quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

re2::RE2::Options glob_options(LetterCase letters) {
  re2::RE2::Options options = quiet();
  options.set_case_sensitive(letters == LetterCase::exact);
  options.set_dot_nl(true);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

re2::RE2::Options line_options() {
  re2::RE2::Options options = quiet();
  options.set_never_nl(true);
  return options;
}

/// In parentheses, so that the flag holds for every alternative.
std::string for_lines(std::string_view expression) {
  return "(?m:" + std::string(expression) + ")";
}

}  // namespace

/// Globs are compiled when a text may match: a run asks few of a policy's globs, and compiling all of
/// them took a third of its start.
class Pattern::Compiled {
 public:
  explicit Compiled(std::unique_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {
    is_compiled_ = true;
  }
  /// @param needed   one of them is in each text that matches; empty where that is not known
  /// @param letters  in which they are looked for
  Compiled(std::string expression, const re2::RE2::Options& options,
           std::vector<std::string> needed, LetterCase letters,
           std::vector<std::string> path_globs = {})
      : expression_(std::move(expression)),
        options_(options),
        needed_(std::move(needed)),
        letters_(letters),
        path_globs_(std::move(path_globs)) {
    if (expression_.size() > kLongestUnchecked) get();
  }

  const re2::RE2& get() {
    std::call_once(once_, [&] {
      if (compiled_ == nullptr) compiled_ = compile(expression_, options_);
      if (!path_globs_.empty()) names_ = std::make_unique<const NameFilter>(path_globs_);
      is_compiled_ = true;
    });
    return *compiled_;
  }

  /// Whether the whole text matches.
  bool matches(std::string_view text) {
    if (!may_match(text)) return false;
    const re2::RE2& expression = get();
    return (names_ == nullptr || names_->may_match(text)) &&
           re2::RE2::FullMatch(piece(text), expression);
  }

  bool may_match(std::string_view text) {
    if (is_compiled_ || needed_.empty()) return true;
    if ((asked_ += text.size()) > kMuchText) return true;
    return std::any_of(needed_.begin(), needed_.end(),
                       [&](const std::string& needed) { return contains(text, needed, letters_); });
  }

 private:
  std::string expression_{};
  re2::RE2::Options options_{};
  std::vector<std::string> needed_{};
  LetterCase letters_ = LetterCase::exact;
  std::once_flag once_{};
  std::unique_ptr<const re2::RE2> compiled_{};
  std::vector<std::string> path_globs_{};  ///< that it was made of
  std::unique_ptr<const NameFilter> names_{};
  std::atomic<bool> is_compiled_ = false;
  std::atomic<std::size_t> asked_ = 0;
};

Pattern::Pattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Pattern Pattern::expression(std::string_view expression, LetterCase letters) {
  re2::RE2::Options options = quiet();
  options.set_case_sensitive(letters == LetterCase::exact);
  return Pattern(std::make_unique<Compiled>(compile(expression, options)));
}

Pattern Pattern::line_expression(std::string_view expression) {
  auto compiled = compile(for_lines(expression), line_options());
  if (compiled->ProgramSize() > kLargestProgram)
    throw PatternError("pattern too large - its repetitions come to too many states");
  return Pattern(std::make_unique<Compiled>(std::move(compiled)));
}

Pattern Pattern::rare_line_expression(std::string_view expression,
                                      std::vector<std::string> needed) {
  // Unicode's other forms of ASCII letters: a long s and the Kelvin sign.
  needed.insert(needed.end(), {"\u017f", "\u212a"});
  return Pattern(std::make_unique<Compiled>(for_lines(expression), line_options(),
                                            std::move(needed), LetterCase::ignored));
}

Pattern Pattern::word_glob(std::string_view glob, LetterCase letters) {
  GlobExpression read = glob_expression(glob, GlobSpan::word);
  std::vector<std::string> needed;
  if (!read.needed.empty()) needed.push_back(std::move(read.needed));
  return Pattern(std::make_unique<Compiled>(std::move(read.expression), glob_options(letters),
                                            std::move(needed), letters));
}

Pattern Pattern::path_glob(std::string_view glob, LetterCase letters) {
  return path_globs({std::string(glob)}, letters);
}

Pattern Pattern::path_globs(const std::vector<std::string>& globs, LetterCase letters) {
  if (globs.empty())
    return Pattern(
        std::make_unique<Compiled>("[^\\x00-\\xff]", glob_options(letters), globs, letters));
  std::string expression;
  std::vector<std::string> needed;
  for (std::string_view glob : globs) {
    while (glob.substr(0, 2) == "./") glob.remove_prefix(2);
    while (glob.size() > 1 && glob.back() == '/') glob.remove_suffix(1);
    GlobExpression read = glob_expression(glob, GlobSpan::folder);
    expression += (expression.empty() ? "" : "|") + read.expression;
    if (!read.needed.empty()) needed.push_back(std::move(read.needed));
  }
  if (needed.size() < globs.size()) needed.clear();
  return Pattern(std::make_unique<Compiled>("(?:" + expression + ")(?:/.*)?", glob_options(letters),
                                            std::move(needed), letters, globs));
}

bool Pattern::matches(std::string_view text) const { return compiled_->matches(text); }

std::optional<std::pair<std::size_t, std::size_t>> Pattern::find(std::string_view text,
                                                                 std::size_t from) const {
  re2::StringPiece found;
  if (from > text.size() || !compiled_->may_match(text.substr(from)) ||
      !compiled_->get().Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    return std::nullopt;
  }
  return std::pair(static_cast<std::size_t>(found.data() - text.data()), found.size());
}

std::optional<GroupMatch> Pattern::find_group(std::string_view text, std::size_t from,
                                              int group) const {
  if (from > text.size() || !compiled_->may_match(text.substr(from)) || group < 0 ||
      group > compiled_->get().NumberOfCapturingGroups())
    return std::nullopt;
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(group) + 1);
  if (!compiled_->get().Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, parts.data(),
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
