#include "policies/shell/conservative_words.h"

#include <algorithm>

#include "core/text/text.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

constexpr std::string_view kBeforeCommand[] = {
    "if",   "then", "else",     "elif",   "while", "until", "do",      "!",
    "time", "{",    "function", "coproc", "exec",  "eval",  "command", "builtin"};

bool is_loose_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; }

bool is_operator(char c) {
  return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')' || c == '`';
}

bool may_be_assignment(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+';
  });
}

/// Splits a script into loose words.
class LooseSplitter {
 public:
  explicit LooseSplitter(std::string_view script) : script_(script) {}

  std::vector<LooseWord> split() {
    for (; at_ < script_.size(); ++at_) read(script_[at_]);
    finish_word();
    if (!words_.empty() && !hidden_.empty()) words_.back().ends_command = true;
    words_.insert(words_.end(), hidden_.begin(), hidden_.end());
    return std::move(words_);
  }

 private:
  void read(char c) {
    if (c == '\\') return read_escape();
    if (c == '\'' || c == '"') return read_quote(c);
    if (is_loose_blank(c)) {
      finish_word();
      continues_ = quote_ != '\0';
      return;
    }
    if (is_operator(c) || c == '<' || c == '>') return read_operator(c);
    begin_word();
    if (c == '$') return read_expansion();
    const bool group =
        c == '{' && word_.text.empty() &&
        (at_ + 1 == script_.size() || is_loose_blank(script_[at_ + 1]) || script_[at_ + 1] == '\n');
    if (group) {
      word_.text = "{";
      return;
    }
    const bool is_glob = c == '*' || c == '?' || c == '[' || c == '{' || c == '~';
    if (is_glob) {
      word_.text += c == '[' && word_.text.empty() ? '[' : kLooseAnything;
      // A set or a brace list may expand to anything.
      const char end = c == '[' ? ']' : c == '{' ? '}' : '\0';
      const auto close = end == '\0' ? std::string_view::npos : script_.find(end, at_);
      if (close != std::string_view::npos &&
          script_.substr(at_, close - at_).find_first_of(" \t\n") == std::string_view::npos) {
        if (word_.text.back() != kLooseAnything) word_.text.back() = kLooseAnything;
        at_ = close;
      }
      return;
    }
    word_.text += c;
  }

  void read_escape() {
    if (at_ + 1 >= script_.size()) return;
    ++at_;
    if (script_[at_] == '\n') return;                    // a continued line joins
    if (script_[at_] == '`') return read_operator('(');  // backquotes in backquotes
    begin_word();
    // An escaped blank does not end a word for the shell; splitting here errs towards denying.
    if (is_loose_blank(script_[at_])) {
      finish_word();
      continues_ = true;
      return;
    }
    word_.text += script_[at_];
  }

  void read_quote(char c) {
    if (quote_ == c) {
      quote_ = '\0';
      continues_ = false;
    } else if (quote_ == '\0') {
      quote_ = c;
      begin_word();  // `""` is a word, `su""do` stays one
    } else {
      begin_word();  // the other quote, as a letter
    }
  }

  /// `$x`, `${x}`, `$'…'`; the inside of `$(…)` and of other `${…}` is read as commands.
  void read_expansion() {
    if (word_.text.empty() || word_.text.back() != kLooseAnything) word_.text += kLooseAnything;
    const char next = at_ + 1 < script_.size() ? script_[at_ + 1] : '\0';
    if (next == '{') {
      std::size_t close = at_ + 2;
      while (close < script_.size() && is_name(script_[close])) ++close;
      const bool is_plain = close < script_.size() && script_[close] == '}';
      at_ = is_plain ? close : at_ + 1;
      if (!is_plain) substitute();
    } else if (next == '(') {
      ++at_;
      substitute();
    } else if (next == '\'' && quote_ == '\0') {
      // ANSI-C quoting: \x73 and so on are not decoded, the word could be anything.
      std::size_t close = at_ + 2;
      while (close < script_.size() && script_[close] != '\'') {
        close += script_[close] == '\\' ? 2 : 1;
      }
      hide(script_.substr(at_ + 2, std::min(close, script_.size()) - std::min(at_ + 2, close)));
      at_ = std::min(close, script_.size() - 1);
    } else if (next != '"') {
      while (at_ + 1 < script_.size() && is_name(script_[at_ + 1])) ++at_;
    }
  }

  /// Text between `$'` and the next quote. In a here-document the quotes are ordinary characters,
  /// and the text may be lines of commands: it is read as commands too.
  void hide(std::string_view text) {
    if (text.find('\n') == std::string_view::npos) return;
    for (LooseWord& word : LooseSplitter(text).split()) {
      word.quoted = true;  // only perhaps a command
      hidden_.push_back(std::move(word));
    }
  }

  /// The inside is read as commands; the text after it is a word of its own.
  void substitute() {
    word_.substitutes = true;
    read_operator('(');
  }

  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_@#?!$*-").find(c) != std::string_view::npos;
  }

  void read_operator(char c) {
    if (c == '`') read_backquote();
    const bool both = c == '&' && at_ + 1 < script_.size() && script_[at_ + 1] == '>';
    if (c == '<' || c == '>' || both) return read_redirection();
    finish_word();
    if (c != '`') argument_follows_ = false;
    if (!words_.empty()) words_.back().ends_command = true;
    at_command_ = true;
    after_redirection_ = false;
  }

  /// The text between two is read as commands; a word with an unknown part may begin before them.
  void read_backquote() {
    in_backquotes_ = !in_backquotes_;
    if (in_backquotes_ && !in_word_) {
      if (argument_follows_) at_command_ = false;
      begin_word();
    }
    if (in_backquotes_)
      argument_follows_ = !at_command_ || (in_word_ && !may_be_assignment(word_.text));
    if (!in_word_) return;
    word_.text += kLooseAnything;
    word_.substitutes = true;
  }

  /// `2>&1` and so on: neither the descriptor nor the `&` ends or begins a command.
  void read_redirection() {
    const bool is_descriptor = in_word_ && !word_.text.empty() &&
                               word_.text.find_first_not_of("0123456789") == std::string::npos;
    if (is_descriptor) {
      in_word_ = false;
    } else {
      finish_word();
    }
    while (at_ + 1 < script_.size() &&
           std::string_view("<>&|").find(script_[at_ + 1]) != std::string_view::npos) {
      ++at_;
    }
    after_redirection_ = true;
  }

  void begin_word() {
    if (in_word_) return;
    in_word_ = true;
    word_ = {.quoted = quote_ != '\0', .continues = continues_};
    continues_ = false;
  }

  void finish_word() {
    if (!in_word_) return;
    in_word_ = false;
    word_.starts_command = at_command_ && !after_redirection_;
    word_.redirects = after_redirection_;
    // After an assignment, a reserved word or a redirection's file the name still follows.
    const bool name_follows = after_redirection_ || may_be_assignment(word_.text) ||
                              is_one_of(word_.text, kBeforeCommand);
    if (!name_follows) at_command_ = false;
    after_redirection_ = false;
    words_.push_back(word_);
    if (may_be_assignment(word_.text)) {
      words_.push_back({.text = word_.text.substr(word_.text.find('=') + 1), .quoted = true});
    }
  }

  std::string_view script_;
  std::size_t at_ = 0;
  char quote_ = '\0';
  bool in_word_ = false;
  bool at_command_ = true;
  bool after_redirection_ = false;
  bool in_backquotes_ = false;
  bool argument_follows_ = false;  ///< after backquotes, though an operator was read
  bool continues_ = false;
  LooseWord word_;
  std::vector<LooseWord> words_;
  std::vector<LooseWord> hidden_;  ///< between `$'` and a quote, over several lines
};

}  // namespace

std::vector<LooseWord> loose_words(std::string_view script) {
  return LooseSplitter(script).split();
}

bool could_be(std::string_view word, std::string_view expected) {
  // Two pointers: on a mismatch the last kLooseAnything takes one more byte.
  std::size_t w = 0;
  std::size_t e = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (e < expected.size()) {
    if (w < word.size() && word[w] == kLooseAnything) {
      star = w++;
      taken = e;
    } else if (w < word.size() && word[w] == expected[e]) {
      ++w;
      ++e;
    } else if (star != std::string_view::npos) {
      w = star + 1;
      e = ++taken;
    } else {
      return false;
    }
  }
  while (w < word.size() && word[w] == kLooseAnything) ++w;
  return w == word.size();
}

std::string loose_glob(std::string_view glob) {
  const auto first = glob.find_first_of("*?[");
  if (first == std::string_view::npos) return std::string(glob);
  const auto last = glob.find_last_of("*?]");
  // An unclosed set, or the text after the last special character.
  const bool closed = last != std::string_view::npos && last >= first &&
                      glob.find('[', last + 1) == std::string_view::npos;
  return std::string(glob.substr(0, first)) + kLooseAnything +
         (closed ? std::string(glob.substr(last + 1)) : std::string());
}

bool may_run_git(std::span<const std::string> argv) {
  if (argv.empty()) return false;
  if (base_name(argv[0]) == "git") return true;
  if (!is_shell(argv[0])) return false;
  const auto script = read_shell_call(argv).script;
  if (!script) return false;
  const auto words = loose_words(*script);
  return std::any_of(words.begin(), words.end(),
                     [](const LooseWord& word) { return could_be(base_name(word.text), "git"); });
}

}  // namespace sortie
