#pragma once

#include <cstddef>
#include <string_view>

#include "policies/shell/script_word.h"

namespace sortie {

/// A token of a script in the strict grammar.
struct ScriptToken {
  enum class Kind { word, redirection, and_then, or_else, pipe, semicolon, newline, end, refused };
  Kind kind = Kind::end;
  std::size_t at = 0;             ///< byte of the script, from 0
  ScriptWord word;                ///< for Kind::word
  ScriptRedirection redirection;  ///< for Kind::redirection, with its target
};

/// Splits a script into words and operators, quotes resolved; script.cpp parses the commands. The
/// text must outlive it.
class ScriptLexer {
 public:
  explicit ScriptLexer(std::string_view script) : script_(script) {}
  /// The next token; there is none after Kind::refused.
  ScriptToken next();
  /// Position and reason of the token `refused`; line, column and part are set by the reader.
  const ScriptRefusal& refusal() const { return refusal_; }

 private:
  using Kind = ScriptToken::Kind;

  ScriptToken refuse(std::size_t at, const char* reason);
  ScriptToken single(Kind kind, std::size_t length);
  ScriptToken read_ampersand();
  ScriptToken read_word();
  ScriptToken read_redirection(int descriptor, std::size_t at);
  ScriptToken read_output(ScriptRedirection redirection);
  ScriptToken read_input(ScriptRedirection redirection);
  ScriptToken read_duplicate(ScriptRedirection redirection);

  // Each reads one part of a word at at_ and appends it to `word`; false: refused.
  bool read_bare(ScriptWord& word, std::size_t start);
  /// Why the character at at_ is not allowed outside quotes there; null if it is.
  const char* why_not_bare(const ScriptWord& word, bool is_first) const;
  bool read_single_quotes(ScriptWord& word);
  bool read_double_quotes(ScriptWord& word);
  bool read_quoted_dollar(ScriptWord& word);
  bool fail(std::size_t at, const char* reason);

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < script_.size() ? script_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= script_.size(); }
  void skip_blanks();

  std::string_view script_;
  std::size_t at_ = 0;
  ScriptRefusal refusal_;
};

/// The first byte that is not allowed anywhere in a script: NUL, CR, other control bytes except tab
/// and newline, invalid UTF-8, control characters beyond ASCII and those that change the direction
/// of writing.
/// @return npos if there is none
std::size_t find_refused_byte(std::string_view script);

}  // namespace sortie
