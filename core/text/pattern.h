#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace sortie {

/// An invalid expression or glob; what() says why.
class PatternError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class LetterCase { exact, ignored };

/// The range of a match in its text, and of one of its groups.
struct GroupMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t group_begin = 0;
  std::size_t group_end = 0;
};

/// An expression or glob, matched in time linear in the text (RE2). Texts are bytes, so names that are
/// not UTF-8 are matched too. Threads may share one.
class Pattern {
 public:
  /// @param expression  RE2 syntax (no back references, no look-around)
  /// @throws PatternError
  static Pattern expression(std::string_view expression, LetterCase letters = LetterCase::exact);

  /// As expression(), for a search in many lines at once: `^` and `$` match at line borders, and no
  /// match crosses lines.
  static Pattern line_expression(std::string_view expression);

  /// A line_expression of the program's own, compiled when a text may match.
  /// @param needed  one of them is in each match, in any letter case; ASCII
  static Pattern rare_line_expression(std::string_view expression, std::vector<std::string> needed);

  /// A glob over one word: `*` any run of characters, also of '/', `?` one, `[a-z]` `[!a]` a set;
  /// a backslash makes the next character literal. An invalid set is literal.
  static Pattern word_glob(std::string_view glob, LetterCase letters = LetterCase::exact);

  /// A glob over a path: as word_glob, but `*`, `?` and sets stay within one folder, `**` matches
  /// any number of folders, and in a relative glob `!(a|b)` matches any rest of a name except those
  /// words (letters, digits, `.`, `_`, `-`). Matches the path itself and everything below it:
  /// `.github` matches `.github/workflows/x.yml`, `**/.env` matches `.env` and `a/.env`. A leading
  /// "./" and a trailing "/" are ignored.
  static Pattern path_glob(std::string_view glob, LetterCase letters = LetterCase::exact);
  /// A pattern for a list of globs: matching costs as much as for a single glob. An empty list
  /// matches nothing.
  static Pattern path_globs(const std::vector<std::string>& globs,
                            LetterCase letters = LetterCase::exact);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  /// Whether the whole text matches.
  bool matches(std::string_view text) const;
  /// Offset and length of the leftmost match at or after `from`.
  std::optional<std::pair<std::size_t, std::size_t>> find(std::string_view text,
                                                          std::size_t from = 0) const;
  /// The same, with the range of the expression's `group`th parentheses. A group that did not match
  /// is empty, at the match's beginning.
  std::optional<GroupMatch> find_group(std::string_view text, std::size_t from, int group) const;

 private:
  class Compiled;
  explicit Pattern(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

/// Whether one of them matches the whole text.
bool any_matches(const std::vector<Pattern>& patterns, std::string_view text);

/// A glob that matches exactly this path: special characters are quoted.
std::string quoted_glob(const std::string& path);

}  // namespace sortie
