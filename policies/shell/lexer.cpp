#include "policies/shell/lexer.h"

#include <algorithm>
#include <cstdint>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr const char* kNoCommandInside =
    "substitutions other than $(nproc) are not supported: run that command in a call of its own";

/// Whether the character ends a bare word. `(` within one is refused elsewhere.
bool ends_word(char c) {
  return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' ||
         c == ')';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::size_t kNotFound = std::string_view::npos;
constexpr const char* kDocumentLine =
    "a quoted newline on the line of a here-document is not supported: end the line first";

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;
};

/// The character at the front of valid UTF-8.
Character front_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length && i < text.size(); ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  return {code, length};
}

bool is_between(std::uint32_t code, std::uint32_t first, std::uint32_t last) {
  return code >= first && code <= last;
}

bool is_control(std::uint32_t code) {
  if (code == '\t' || code == '\n') return false;
  return code < 0x20 || is_between(code, 0x7f, 0x9f) || is_between(code, 0x202a, 0x202e) ||
         is_between(code, 0x2066, 0x2069);
}

/// Blanks and invisible characters beyond ASCII: bash takes them for letters, a reader does not.
bool looks_blank(std::uint32_t code) {
  return code == 0xa0 || code == 0xad || code == 0x1680 || code == 0x180e ||
         is_between(code, 0x2000, 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         is_between(code, 0x205f, 0x2064) || code == 0x3000 || code == 0xfeff;
}

bool is_name_letter(char c) { return is_ascii_alphanumeric(c) || c == '_'; }

bool is_variable_name(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), is_name_letter);
}

/// Whether the token is one word whose text is known.
bool is_literal(const ScriptToken& token) {
  return token.kind == ScriptToken::Kind::word && !token.word.glob && token.alternatives.empty() &&
         token.word.text.find_first_of("\x02\x05\x06") == kNotFound;
}

const char* why_no_dollar(char next) {
  switch (next) {
    case '(':
      return kNoCommandInside;
    case '\'':
    case '"':
      return "$'…' and $\"…\" are not supported: write the word in '…'";
    default:
      return "variables are not supported: write the value itself, or a literal $ in '…'";
  }
}

}  // namespace

std::size_t find_refused_byte(std::string_view script) {
  const bool whole = is_utf8(script);
  for (std::size_t at = 0; at < script.size();) {
    const Character character = front_character(script.substr(at));
    const std::string_view bytes = script.substr(at, character.length);
    if (!whole && !is_utf8(bytes)) return at;
    if (is_control(character.code)) return at;
    at += character.length;
  }
  return std::string_view::npos;
}

bool ScriptLexer::fail(std::size_t at, const char* reason) {
  refusal_.at = at;
  refusal_.reason = reason;
  return false;
}

ScriptToken ScriptLexer::refuse(std::size_t at, const char* reason) {
  fail(at, reason);
  return {.kind = Kind::refused, .at = at, .word = {}, .redirection = {}};
}

ScriptToken ScriptLexer::single(Kind kind, std::size_t length) {
  ScriptToken token{.kind = kind, .at = at_, .word = {}, .redirection = {}};
  at_ += length;
  return token;
}

/// Skips blanks, and continued lines between words. Elsewhere a backslash before a newline would
/// join what is on both sides.
void ScriptLexer::skip_blanks() {
  for (; !at_end(); ++at_) {
    const bool after_blank = at_ > 0 && is_blank(script_[at_ - 1]);
    if (after_blank && script_[at_] == '\\' && peek(1) == '\n') {
      at_ += 2;
      while (!at_end() && is_blank(script_[at_])) ++at_;
      if (at_end() || script_[at_ - 1] == '\n') return;
    }
    if (at_end() || !is_blank(script_[at_])) return;
  }
}

ScriptToken ScriptLexer::next() {
  skip_blanks();
  if (!at_end() && script_[at_] == '#') at_ = std::min(script_.find('\n', at_), script_.size());
  if (at_end()) {
    if (!open_documents_.empty())
      return refuse(open_documents_.front().at, "a here-document without its last line");
    return {.kind = Kind::end, .at = script_.size(), .word = {}, .redirection = {}};
  }
  switch (script_[at_]) {
    case '\n':
      return read_newline();
    case '(':
      if (peek(1) == '(') return refuse(at_, "(( )) is not supported: send plain commands");
      return single(Kind::open, 1);
    case ')':
      return single(Kind::close, 1);
    case ';':
      if (peek(1) == ';' || peek(1) == '&') return refuse(at_, "`;;` is not supported");
      return single(Kind::semicolon, 1);
    case '|':
      if (peek(1) == '&') return refuse(at_, "`|&` is not supported: write 2>&1 |");
      return peek(1) == '|' ? single(Kind::or_else, 2) : single(Kind::pipe, 1);
    case '&':
      return read_ampersand();
    case '<':
    case '>':
      return read_redirection(-1, at_);
    default:
      return read_word();
  }
}

ScriptToken ScriptLexer::read_ampersand() {
  if (peek(1) == '&') return single(Kind::and_then, 2);
  if (peek(1) != '>') return refuse(at_, "background commands are not supported: leave out the &");
  ScriptRedirection redirection{.kind = ScriptRedirection::Kind::both_to_null, .at = at_};
  at_ += 2;
  if (peek() == '>') ++at_;
  return read_output(std::move(redirection));
}

ScriptToken ScriptLexer::read_word() {
  ScriptToken token{.kind = Kind::word, .at = at_, .word = {}, .redirection = {}};
  token.word.at = at_;
  while (!at_end() && !ends_word(script_[at_])) {
    const char c = script_[at_];
    const bool read = c == '\''   ? read_single_quotes(token.word)
                      : c == '"'  ? read_double_quotes(token.word)
                      : c == '\\' ? read_escape(token.word)
                      : c == '{'  ? read_braces(token)
                                  : read_bare(token.word, token.at);
    if (!read) return {.kind = Kind::refused, .at = refusal_.at, .word = {}, .redirection = {}};
  }
  for (std::string& each : token.alternatives) each += token.word.text.substr(token.after_braces);
  const std::string& text = token.word.text;
  token.word.may_vanish =
      token.word.may_vanish && token.word.bare && text.find_first_not_of(kNumberMark) == kNotFound;
  // `{1,2}>` is two words, though the first is a digit.
  const bool is_number = token.word.bare && token.alternatives.empty() &&
                         std::all_of(text.begin(), text.end(), is_digit);
  if (is_number && (peek() == '<' || peek() == '>')) {
    if (text.size() > 1)
      return refuse(token.at, "descriptors of more than one digit are not supported");
    return read_redirection(text[0] - '0', token.at);
  }
  // By itself it is the command `[` or a letter: no set is closed.
  if (text == "[") token.word.glob = false;
  return token;
}

const char* ScriptLexer::why_not_bare(const ScriptWord& word) const {
  constexpr const char* kHome = "`~` is not supported: write the path itself";
  switch (script_[at_]) {
    case '$':
      return why_no_dollar(peek(1));
    case '`':
      return kNoCommandInside;
    case '(':
      return "functions, arrays and patterns with ( are not supported: put a literal one in '…'";
    case '}':
      return "a literal brace has to be in '…'";
    case '~':
      if (word.text.empty() || word.text.back() == '=' || word.text.back() == ':') return kHome;
      return nullptr;
    default:
      return nullptr;
  }
}

bool ScriptLexer::read_bare(ScriptWord& word, std::size_t start) {
  if (script_[at_] == '$' && read_known_dollar(word, false)) return true;
  // By itself it ends a group.
  const bool is_brace = script_[at_] == '}' && at_ == start &&
                        (at_ + 1 == script_.size() || ends_word(script_[at_ + 1]));
  if (const char* const why = is_brace ? nullptr : why_not_bare(word)) return fail(at_, why);
  const Character character = front_character(script_.substr(at_));
  if (looks_blank(character.code)) {
    return fail(at_, "an invisible or blank-looking character: put it in '…'");
  }
  const char c = script_[at_];
  word.glob = word.glob || c == '*' || c == '?' || c == '[';
  word.assigns = word.assigns || (c == '=' && word.bare && is_variable_name(word.text));
  word.text += script_.substr(at_, character.length);
  at_ += character.length;
  return true;
}

bool ScriptLexer::read_single_quotes(ScriptWord& word) {
  const std::size_t open = at_;
  const auto close = script_.find('\'', at_ + 1);
  if (close == std::string_view::npos) return fail(open, "unterminated quote");
  if (!open_documents_.empty() && script_.substr(open, close - open).find('\n') != kNotFound)
    return fail(open, kDocumentLine);
  word.text += script_.substr(open + 1, close - open - 1);
  word.bare = false;
  at_ = close + 1;
  return true;
}

bool ScriptLexer::read_double_quotes(ScriptWord& word) {
  const std::size_t open = at_++;
  word.bare = false;
  for (; !at_end(); ++at_) {
    const char c = script_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '`') return fail(at_, kNoCommandInside);
    if (c == '\n' && !open_documents_.empty()) return fail(open, kDocumentLine);
    if (c == '$') {
      if (read_known_dollar(word, true)) {
        --at_;
        continue;
      }
      if (!read_quoted_dollar(word)) return false;
      continue;
    }
    if (c == '\\') {
      const char next = peek(1);
      if (next == '\n') return fail(at_, "line continuations are not supported");
      if (next == '"' || next == '\\' || next == '$' || next == '`') ++at_;
    }
    word.text += script_[at_];
  }
  return fail(open, "unterminated quote");
}

/// A `$` at the end of a regular expression, or of a part of one, begins no expansion.
bool ScriptLexer::read_quoted_dollar(ScriptWord& word) {
  const char next = peek(1);
  if (next != '"' && next != ' ' && next != '|' && next != ')') {
    return fail(at_, next == '(' ? kNoCommandInside : why_no_dollar('\0'));
  }
  word.text += '$';
  return true;
}

ScriptToken ScriptLexer::read_redirection(int descriptor, std::size_t at) {
  const char direction = script_[at_++];
  const bool is_output = direction == '>';
  ScriptRedirection redirection{.descriptor = descriptor >= 0 ? descriptor
                                              : is_output     ? 1
                                                              : 0,
                                .at = at};
  if (!is_output) return read_input(std::move(redirection));
  if (peek() == '&') {
    ++at_;
    return read_duplicate(std::move(redirection));
  }
  if (peek() == '|') return refuse(at, "`>|` writes a file: output can only go to /dev/null");
  if (peek() == '>') ++at_;
  redirection.kind = ScriptRedirection::Kind::output_to_null;
  return read_output(std::move(redirection));
}

ScriptToken ScriptLexer::read_duplicate(ScriptRedirection redirection) {
  const char target = peek();
  const char next = peek(1);
  const bool ends = at_ + 1 >= script_.size() || (ends_word(next) && next != '<' && next != '>' &&
                                                  (next != '&' || peek(2) == '&'));
  if ((target != '1' && target != '2') || !ends) {
    return refuse(redirection.at, "only 1 or 2 is supported after >&");
  }
  redirection.kind = ScriptRedirection::Kind::duplicate;
  redirection.target = target - '0';
  ++at_;
  return {.kind = Kind::redirection, .at = redirection.at, .word = {}, .redirection = redirection};
}

ScriptToken ScriptLexer::read_output(ScriptRedirection redirection) {
  constexpr const char* kNull =
      "output can only be redirected to /dev/null: write files with apply_patch";
  skip_blanks();
  if (at_end() || ends_word(peek()) || peek() == '#') return refuse(redirection.at, kNull);
  ScriptToken file = read_word();
  if (file.kind == Kind::refused) return file;
  if (!is_literal(file) || file.word.text != "/dev/null") return refuse(redirection.at, kNull);
  return {.kind = Kind::redirection, .at = redirection.at, .word = {}, .redirection = redirection};
}

ScriptToken ScriptLexer::read_input(ScriptRedirection redirection) {
  constexpr const char* kFile = "only a literal file name is supported after <";
  if (peek() == '<' && redirection.descriptor == 0)
    return peek(1) == '<' ? read_here_string(std::move(redirection))
                          : read_document(std::move(redirection));
  if (peek() == '(') return refuse(redirection.at, kNoCommandInside);
  if (redirection.descriptor != 0)
    return refuse(redirection.at, "only standard input can be read from a file");
  skip_blanks();
  if (at_end() || ends_word(peek()) || peek() == '#') return refuse(redirection.at, kFile);
  ScriptToken file = read_word();
  if (file.kind == Kind::refused) return file;
  if (!is_literal(file) || file.word.text.empty()) return refuse(redirection.at, kFile);
  redirection.kind = ScriptRedirection::Kind::input;
  redirection.file = std::move(file.word.text);
  return {.kind = Kind::redirection, .at = redirection.at, .word = {}, .redirection = redirection};
}

}  // namespace sortie
