#pragma once

#include <cstddef>
#include <string_view>

#include "policies/shell/script_word.h"

namespace sortie {

/// One step of a script by the strict grammar.
struct ScriptToken {
  enum class Kind { word, redirection, and_then, or_else, pipe, semicolon, newline, end, refused };
  Kind kind = Kind::end;
  std::size_t at = 0;             ///< byte of the script, from 0
  ScriptWord word;                ///< of a word
  ScriptRedirection redirection;  ///< of a redirection, its target included
};

/// Cuts a script into words and operators, quotes resolved. Knows the grammar's letters, not its
/// sentences: script.cpp does. The text must outlive it.
class ScriptLexer {
 public:
  explicit ScriptLexer(std::string_view script) : script_(script) {}
  /// The next token; behind one of kind `refused` there is none.
  ScriptToken next();
  /// Place and reason of the token `refused`; line, column and part are left to the reader.
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

  // Each reads one part of a word at at_ and appends to it; false: refused.
  bool read_bare(ScriptWord& word, std::size_t start);
  /// Why the character at at_ may not stand outside quotes there; null where it may.
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

/// The first byte that no script may have, wherever it stands: NUL, CR, other control bytes but tab
/// and newline, what is not UTF-8, control characters beyond ASCII and those that turn the
/// direction of writing.
/// @return npos where there is none
std::size_t find_refused_byte(std::string_view script);

}  // namespace sortie
