#pragma once

#include <string_view>

#include "ci/report/page/html.h"

namespace sortie {

struct CodeLanguage;

/// The language of a file by its name; null: none that is known.
const CodeLanguage* language_of(std::string_view path) noexcept;

/// Colours the lines of one side of a hunk, in order. It knows kinds of tokens (words of the
/// language, texts, numbers, comments), not grammar.
class Highlighter {
 public:
  explicit Highlighter(const CodeLanguage* language) : language_(language) {}
  /// Writes the line, escaped. A comment that it leaves open goes on in the next.
  void write(Html& html, std::string_view line);

 private:
  std::size_t comment_at(std::string_view line, std::size_t at);
  std::size_t text_at(std::string_view line, std::size_t at) const;
  std::size_t write_word(Html& html, std::string_view line, std::size_t at) const;

  const CodeLanguage* language_;
  bool in_comment_ = false;
};

}  // namespace sortie
