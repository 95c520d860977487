#include "policies/shell/script.h"

#include <algorithm>
#include <utility>

#include "core/text/text.h"
#include "policies/shell/lexer.h"

namespace sortie {
namespace {

using Kind = ScriptToken::Kind;

constexpr std::size_t kMaxPart = 40;

// bash(1), RESERVED WORDS; refusing `in` and `]]` as a command's name too costs nothing.
constexpr std::string_view kReserved[] = {
    "!",   "[[",       "]]", "case", "coproc", "do",   "done", "elif",  "else",  "esac", "fi",
    "for", "function", "if", "in",   "select", "then", "time", "until", "while", "{",    "}"};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '+' || c == '-';
}

/// [A-Za-z0-9._+-]+, except "." and "..".
bool is_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), is_name_letter);
}

/// One or more names, each after a "/".
bool is_absolute_name(std::string_view text) {
  while (!text.empty() && text.front() == '/') {
    text.remove_prefix(1);
    const auto slash = std::min(text.find('/'), text.size());
    if (!is_name(text.substr(0, slash))) return false;
    text.remove_prefix(slash);
    if (text.empty()) return true;
  }
  return false;
}

bool is_assignment(std::string_view text) {
  const auto equals = text.find('=');
  const bool named =
      equals != std::string_view::npos && equals > 0 &&
      (text[0] == '_' || (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  return named;
}

/// Why a word can't be a command's name, or "".
const char* why_no_name(const ScriptWord& word) {
  const std::string& text = word.text;
  if (is_assignment(text)) {
    return "variable assignments are not supported: the policy sets the environment";
  }
  if (!word.bare) return "write the command's name without quotes";
  if (text == "[") return "";
  if (is_reserved_word(text))
    return "loops, conditions and groups are not supported: send plain commands";
  if (word.glob) return "globs are not supported in a command's name";
  // "-" would begin an option of bash; neither begins a program's name.
  if (text.front() == '-' || text.front() == '+') return "a command's name can't begin with - or +";
  if (is_name(text) || is_absolute_name(text)) return "";
  if (text.find('/') != std::string::npos && text.front() != '/') {
    return "run a program of the workspace as a direct argv, not from a script";
  }
  return "a command's name must be bare (letters, digits and . _ + -) or an absolute path without ..";
}

/// Parses the commands of a script from the lexer's tokens.
class ScriptReader {
 public:
  explicit ScriptReader(std::string_view script) : script_(script), lexer_(script) {}

  ScriptReading read() {
    if (script_.size() > kMaxScriptBytes) {
      refuse(kMaxScriptBytes, "the script is longer than 64 KiB");
    } else if (const auto at = find_refused_byte(script_); at != std::string_view::npos) {
      refuse(at, why_no_byte(script_[at]));
    } else {
      read_list();
    }
    if (reading_.refused) reading_.commands.clear();
    return std::move(reading_);
  }

 private:
  static const char* why_no_byte(char c) {
    if (c == '\0') return "the script has a NUL byte";
    if (c == '\r') return "the script has a carriage return: end lines with a newline alone";
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 ? "the script has a control character"
                       : "not valid UTF-8, or an invisible character";
  }

  void refuse(std::size_t at, const char* reason) {
    reading_.refused = true;
    ScriptRefusal& refusal = reading_.refusal;
    refusal.at = at;
    refusal.reason = reason;
    const std::string_view before = script_.substr(0, at);
    refusal.line += static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const auto newline = before.rfind('\n');
    refusal.column += static_cast<int>(at - (newline == std::string_view::npos ? 0 : newline + 1));
    const std::string_view rest = script_.substr(at);
    const auto end = rest.find_first_of(" \t\n", rest.empty() || rest[0] == '\n' ? 1 : 0);
    refusal.part = one_line(repair_utf8(utf8_prefix(rest.substr(0, end), kMaxPart)), kMaxPart);
  }

  ScriptToken next() {
    ScriptToken token = lexer_.next();
    if (token.kind == Kind::refused) refuse(lexer_.refusal().at, lexer_.refusal().reason.c_str());
    return token;
  }

  ScriptToken next_but_newlines() {
    ScriptToken token = next();
    while (token.kind == Kind::newline) token = next();
    return token;
  }

  void read_list() {
    ScriptToken token = next_but_newlines();
    for (ScriptLink link = ScriptLink::first;;) {
      const bool may_end = link == ScriptLink::then;
      if (token.kind == Kind::end && may_end) return;
      token = read_command(link, std::move(token));
      if (reading_.refused || token.kind == Kind::end) return;
      link = link_of(token.kind);
      token = next_but_newlines();
      if (reading_.refused) return;
    }
  }

  static ScriptLink link_of(Kind kind) {
    if (kind == Kind::and_then) return ScriptLink::and_then;
    if (kind == Kind::or_else) return ScriptLink::or_else;
    return kind == Kind::pipe ? ScriptLink::pipe : ScriptLink::then;
  }

  /// Reads one command and returns the token after it.
  ScriptToken read_command(ScriptLink link, ScriptToken token) {
    SimpleCommand command{.link = link, .words = {}, .redirections = {}};
    for (;; token = next()) {
      if (token.kind == Kind::word) {
        if (command.words.empty()) check_name(token.word);
        command.words.push_back(std::move(token.word));
      } else if (token.kind == Kind::redirection) {
        command.redirections.push_back(std::move(token.redirection));
      } else {
        break;
      }
      if (reading_.refused) return token;
    }
    if (reading_.refused) return token;
    if (command.words.empty()) {
      refuse(token.at, reading_.commands.empty() && token.kind == Kind::end
                           ? "the script has no command"
                           : "a command is missing here");
      return token;
    }
    words_ += command.words.size();
    if (words_ > kMaxScriptWords) refuse(command.words[0].at, "the script has too many words");
    if (reading_.commands.size() == kMaxScriptCommands) {
      refuse(command.words[0].at, "the script has too many commands");
    }
    reading_.commands.push_back(std::move(command));
    return token;
  }

  void check_name(const ScriptWord& word) {
    const char* reason = why_no_name(word);
    if (*reason != '\0') refuse(word.at, reason);
  }

  std::string_view script_;
  ScriptLexer lexer_;
  ScriptReading reading_;
  std::size_t words_ = 0;
};

}  // namespace

bool is_reserved_word(std::string_view word) { return is_one_of(word, kReserved); }

ScriptReading read_script(std::string_view script) { return ScriptReader(script).read(); }

}  // namespace sortie
