// The parts of the lexer that read what bash expands with certainty: escapes, `$?`, `$(nproc)`, the
// variables of loops, `{a,b}`, here-documents.
#include <algorithm>

#include "core/text/text.h"
#include "policies/shell/lexer.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxAlternatives = 100;
constexpr std::string_view kMarks = "\x02\x05\x06";

/// Commands that print one number and do nothing else.
constexpr std::string_view kNumbers[] = {"nproc", "nproc --all", "getconf _NPROCESSORS_ONLN"};

bool is_name_part(char c) { return is_ascii_alphanumeric(c) || c == '_'; }

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos &&
         (text[0] != '0' || text.size() == 1);
}

/// The numbers of "1..3"; empty for other texts.
std::vector<std::string> numbers_of(std::string_view range) {
  const auto dots = range.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string_view first = range.substr(0, dots);
  const std::string_view last = range.substr(dots + 2);
  if (!is_number(first) || !is_number(last)) return {};
  const int from = std::stoi(std::string(first));
  const int to = std::stoi(std::string(last));
  std::vector<std::string> numbers;
  for (int i = from; numbers.size() <= kMaxAlternatives; i += from <= to ? 1 : -1) {
    numbers.push_back(std::to_string(i));
    if (i == to) break;
  }
  return numbers;
}

/// The parts of "a,b"; empty for other texts.
std::vector<std::string> parts_of_list(std::string_view list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else if (is_ascii_alphanumeric(c) ||
               std::string_view("._-/+@%*?").find(c) != std::string_view::npos) {
      parts.back() += c;
    } else {
      return {};
    }
  }
  const bool whole =
      parts.size() > 1 && std::none_of(parts.begin(), parts.end(),
                                       [](const std::string& part) { return part.empty(); });
  return whole ? parts : std::vector<std::string>();
}

}  // namespace

bool ScriptLexer::read_escape(ScriptWord& word) {
  const char next = peek(1);
  if (next == '\n') return fail(at_, "a line can only be continued between words, after a blank");
  if (next < 0x20 || next > 0x7e) return fail(at_, "a backslash before this: put the word in '…'");
  word.text += next;
  word.bare = false;
  at_ += 2;
  return true;
}

bool ScriptLexer::read_known_dollar(ScriptWord& word, bool quoted) {
  if (peek(1) == '?') {
    word.text += kNumberMark;
    word.glob = true;
    at_ += 2;
    return true;
  }
  if (peek(1) == '(') {
    const auto close = script_.find(')', at_);
    if (close == std::string_view::npos) return false;
    if (!is_one_of(trimmed(script_.substr(at_ + 2, close - at_ - 2)), kNumbers)) return false;
    word.text += kNumberMark;
    word.glob = true;
    word.may_vanish = word.may_vanish || !quoted;
    at_ = close + 1;
    return true;
  }
  const bool braces = peek(1) == '{';
  const std::size_t begin = at_ + (braces ? 2 : 1);
  std::size_t end = begin;
  while (end < script_.size() && is_name_part(script_[end])) ++end;
  if (braces && (end == script_.size() || script_[end] != '}')) return false;
  const std::string_view name = script_.substr(begin, end - begin);
  for (std::size_t i = variables.size(); i-- > 0;) {
    if (variables[i] != name) continue;
    word.text += quoted ? kQuotedVariable : kBareVariable;
    word.text += static_cast<char>('0' + i);
    at_ = end + (braces ? 1 : 0);
    return true;
  }
  return false;
}

/// `{}` and a `{` by itself are literal.
bool ScriptLexer::read_braces(ScriptToken& token) {
  ScriptWord& word = token.word;
  const std::size_t rest = at_ + 1;
  const bool alone = at_ == token.at &&
                     (rest == script_.size() || is_blank(script_[rest]) || script_[rest] == '\n');
  if (alone || peek(1) == '}') {
    word.text += alone ? "{" : "{}";
    at_ += alone ? 1 : 2;
    return true;
  }
  const auto close = script_.find('}', at_);
  const auto inside = script_.substr(rest, std::min(close, script_.size()) - rest);
  // `HEAD@{1}`: without a comma and without `..` nothing is expanded, but `{fd}>` sets a variable.
  if (close != std::string_view::npos && !inside.empty() &&
      std::all_of(inside.begin(), inside.end(), is_name_part) &&
      std::string_view("<>").find(close + 1 < script_.size() ? script_[close + 1] : ' ') ==
          std::string_view::npos) {
    word.text += script_.substr(at_, close + 1 - at_);
    at_ = close + 1;
    return true;
  }
  std::vector<std::string> parts = numbers_of(inside);
  if (parts.empty()) parts = parts_of_list(inside);
  // Braces are expanded first: in `$f{a,b}` they would change the variable's name.
  const bool plain = close != std::string_view::npos && token.alternatives.empty() &&
                     !word.assigns && word.text.find_first_of(kMarks) == std::string::npos;
  if (!plain || parts.empty() || parts.size() > kMaxAlternatives)
    return fail(at_,
                "braces other than one {a,b} or {1..9} in a word are not supported: write "
                "the words out, or put a literal brace in '…'");
  for (const std::string& part : parts) {
    word.glob = word.glob || part.find_first_of("*?") != std::string::npos;
    token.alternatives.push_back(word.text + part);
  }
  word.text += parts.front();
  token.after_braces = word.text.size();
  at_ = close + 1;
  return true;
}

ScriptToken ScriptLexer::read_here_string(ScriptRedirection redirection) {
  at_ += 2;
  skip_blanks();
  ScriptToken text = next();
  if (text.kind == Kind::refused) return text;
  const bool literal = text.kind == Kind::word && !text.word.glob && text.alternatives.empty() &&
                       text.word.text.find_first_of(kMarks) == std::string::npos;
  if (!literal) return refuse(redirection.at, "only a literal word is supported after <<<");
  redirection.kind = ScriptRedirection::Kind::text;
  redirection.file = std::move(text.word.text);
  return {.kind = Kind::redirection, .at = redirection.at, .word = {}, .redirection = redirection};
}

ScriptToken ScriptLexer::read_document(ScriptRedirection redirection) {
  Document document{.at = redirection.at};
  ++at_;
  document.without_tabs = peek() == '-';
  if (document.without_tabs) ++at_;
  skip_blanks();
  ScriptToken end = at_end() || script_[at_] == '\n' ? ScriptToken{} : read_word();
  if (end.kind == Kind::refused) return end;
  const std::string& text = end.word.text;
  // Braces are not expanded there: `<<{a,b}` ends at the line {a,b}.
  const bool plain = end.kind == Kind::word && end.alternatives.empty() && !text.empty() &&
                     std::all_of(text.begin(), text.end(), is_name_part);
  if (!plain) return refuse(redirection.at, "write the end of a here-document as <<'EOF'");
  document.end = text;
  document.literal = !end.word.bare;
  open_documents_.push_back(std::move(document));
  redirection.kind = ScriptRedirection::Kind::text;
  return {.kind = Kind::redirection, .at = redirection.at, .word = {}, .redirection = redirection};
}

/// A newline, and the here-documents that begin after it.
ScriptToken ScriptLexer::read_newline() {
  ScriptToken token = single(Kind::newline, 1);
  for (const Document& document : open_documents_) {
    std::string& text = documents_[document.at];
    for (;;) {
      if (at_end()) return refuse(document.at, "a here-document without its last line");
      const auto newline = std::min(script_.find('\n', at_), script_.size());
      std::string_view line = script_.substr(at_, newline - at_);
      at_ = std::min(newline + 1, script_.size());
      if (document.without_tabs)
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      if (line == document.end) break;
      if (!document.literal && line.find_first_of("$`\\") != std::string_view::npos)
        return refuse(document.at, "this here-document would be expanded: write <<'EOF'");
      text.append(line) += '\n';
    }
  }
  open_documents_.clear();
  return token;
}

}  // namespace sortie
