#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policies/shell/script_word.h"

namespace sortie {

/// A token of a script in the strict grammar.
struct ScriptToken {
  enum class Kind {
    word,
    redirection,
    and_then,
    or_else,
    pipe,
    semicolon,
    newline,
    open,   ///< (
    close,  ///< )
    end,
    refused
  };
  Kind kind = Kind::end;
  std::size_t at = 0;  ///< byte of the script, from 0
  ScriptWord word;     ///< for Kind::word
  /// For a word with `{a,b}` or `{1..3}`: the texts of all the words that it becomes.
  std::vector<std::string> alternatives{};
  std::size_t after_braces = 0;   ///< the length of `word.text` up to their end
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
  /// The variables of the loops around the next token, by number: only these may be used.
  std::vector<std::string> variables;
  /// The here-documents read so far, by the place of their redirection.
  const std::map<std::size_t, std::string>& documents() const { return documents_; }

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
  ScriptToken read_document(ScriptRedirection redirection);
  ScriptToken read_here_string(ScriptRedirection redirection);
  ScriptToken read_newline();

  // Each reads one part of a word at at_ and appends it to `word`; false: refused.
  bool read_bare(ScriptWord& word, std::size_t start);
  /// Why the character at at_ is not allowed outside quotes there; null if it is.
  const char* why_not_bare(const ScriptWord& word) const;
  bool read_single_quotes(ScriptWord& word);
  bool read_double_quotes(ScriptWord& word);
  bool read_quoted_dollar(ScriptWord& word);
  bool read_escape(ScriptWord& word);
  /// `$?`, `$(nproc)` and the variables of loops.
  /// @return whether there is one; else nothing is read
  bool read_known_dollar(ScriptWord& word, bool quoted);
  bool read_braces(ScriptToken& token);
  bool fail(std::size_t at, const char* reason);

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < script_.size() ? script_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= script_.size(); }
  void skip_blanks();

  /// A here-document whose text begins after the next newline.
  struct Document {
    std::size_t at = 0;
    std::string end;
    bool literal = false;  ///< the word after << is quoted
    bool without_tabs = false;
  };

  std::string_view script_;
  std::size_t at_ = 0;
  std::vector<Document> open_documents_;
  std::map<std::size_t, std::string> documents_;
  ScriptRefusal refusal_;
};

/// The first byte that is not allowed anywhere in a script: NUL, CR, other control bytes except tab
/// and newline, invalid UTF-8, control characters beyond ASCII and those that change the direction
/// of writing.
/// @return npos if there is none
std::size_t find_refused_byte(std::string_view script);

}  // namespace sortie
