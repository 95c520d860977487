#include "policies/shell/awk_program.h"

#include <array>
#include <vector>

#include "core/text/text.h"
#include "policies/shell/regex_literal.h"

namespace sortie {
namespace {

constexpr std::array<std::string_view, 24> kFunctions = {
    "length", "substr",  "index",   "split",  "sub",      "gsub",  "match",   "sprintf",
    "sin",    "cos",     "atan2",   "exp",    "log",      "sqrt",  "int",     "rand",
    "srand",  "tolower", "toupper", "gensub", "strtonum", "asort", "systime", "strftime"};

/// Words before a parenthesis that are no function's name.
constexpr std::array<std::string_view, 9> kStatements = {
    "if", "while", "for", "print", "printf", "return", "in", "exit", "else"};

struct RefusedName {
  std::string_view name;
  const char* why;
};
constexpr std::array<RefusedName, 11> kRefused = {{
    {"system", "awk system() runs a program"},
    {"getline", "awk getline reads a file or a program: pass files as operands"},
    {"ENVIRON", "awk ENVIRON reads the environment"},
    {"PROCINFO", "awk PROCINFO changes how awk reads"},
    {"ARGV", "awk ARGV names other files: pass files as operands"},
    {"ARGC", "awk ARGC changes the operands"},
    {"SYMTAB", "awk SYMTAB reads and changes all variables"},
    {"FUNCTAB", "awk FUNCTAB calls functions by name"},
    {"function", "awk functions are not checked: write the statements in the rule"},
    {"func", "awk functions are not checked: write the statements in the rule"},
    {"extension", "awk extension() loads a library"},
}};

constexpr const char* kUnreadAwk = "this awk program can't be checked: write it without this sign";

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool begins_awk_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Reads a program's tokens. Only those are known that all awks read in the same way.
class AwkProgram {
 public:
  explicit AwkProgram(std::string_view text) : text_(text) {}

  std::string why_refused() {
    while (at_ < text_.size() && reason_.empty()) read_token();
    return reason_;
  }

 private:
  /// What the last token was: it decides what a slash is.
  enum class Last { operand, operation, other };

  void refuse(const char* reason) { reason_ = reason; }
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void read_token() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++at_;
    } else if (begins_awk_name(c)) {
      read_name();
    } else if (is_decimal(c) || (c == '.' && is_decimal(next()))) {
      read_number();
    } else if (c == '"') {
      read_string();
    } else if (c == '/') {
      read_slash();
    } else {
      read_sign(c);
    }
  }

  void read_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (begins_awk_name(text_[at_]) || is_decimal(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    for (const RefusedName& row : kRefused)
      if (row.name == name) return refuse(row.why);
    const auto behind = text_.find_first_not_of(" \t", at_);
    const bool called = behind != std::string_view::npos && text_[behind] == '(';
    const bool is_function = is_one_of(name, kFunctions);
    const bool is_statement = is_one_of(name, kStatements);
    if (called && !is_function && !is_statement)
      return refuse("awk: only its plain built-in functions are checked");
    if (name == "print" || name == "printf") prints_ = true;
    control_ = called && (name == "if" || name == "while" || name == "for");
    // `length / 2` is read in two ways, and so is a slash behind a keyword.
    constexpr std::string_view kKeywords =
        " do BEGIN END next nextfile delete break continue "
        "switch case default BEGINFILE ENDFILE ";
    const bool is_keyword = kKeywords.find(' ' + std::string(name) + ' ') != std::string_view::npos;
    last_ = is_function || is_statement || is_keyword ? Last::other : Last::operand;
  }

  void read_number() {
    const auto skip_digits = [this] {
      while (at_ < text_.size() && is_decimal(text_[at_])) ++at_;
    };
    skip_digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      skip_digits();
    }
    // `1system("x")` would be two tokens, `1e5` and `0x1f` are not to everyone.
    if (at_ < text_.size() && (begins_awk_name(text_[at_]) || text_[at_] == '.'))
      return refuse(kUnreadAwk);
    last_ = Last::operand;
  }

  void read_string() {
    const auto end = end_of_text(text_, at_ + 1, '"');
    if (end == std::string_view::npos) return refuse("awk: a text does not end in its line");
    at_ = end + 1;
    last_ = Last::operand;
  }

  void read_slash() {
    if (last_ == Last::other)
      return refuse("awk: it is not certain whether this / begins a pattern");
    if (last_ == Last::operand) {
      ++at_;
      if (at_ < text_.size() && text_[at_] == '=') ++at_;
      last_ = Last::operation;
      return;
    }
    if (next() == '=') return refuse(kUnreadAwk);  // a pattern, or an assignment
    const auto end = end_of_regex(text_, at_ + 1, '/');
    if (end == std::string_view::npos)
      return refuse("awk: it is not certain where this pattern ends");
    at_ = end + 1;
    last_ = Last::operand;
  }

  void read_sign(char c) {
    const char behind = next();
    if (c == '|' || c == '&') {
      if (behind != c)
        return refuse(c == '|' ? "awk | runs a program: pipe in the shell" : kUnreadAwk);
      at_ += 2;
      last_ = Last::operation;
      return;
    }
    if (c == '>') {
      const bool to_file = behind == '>' || (prints_ && parentheses_.empty());
      if (to_file) return refuse("awk > writes a file: put a comparison into parentheses");
    }
    if ((c == '+' || c == '-') && behind == c) {
      at_ += 2;
      last_ = Last::other;  // before or behind its operand
      return;
    }
    if (std::string_view("{}()[];,\n+-*%^!~<=>?:$").find(c) == std::string_view::npos)
      return refuse(c == '@' ? "awk @ loads code, or calls a function by name" : kUnreadAwk);
    ++at_;
    last_ = Last::operation;
    if (c == '(') {
      parentheses_.push_back(control_);
      control_ = false;
    } else if (c == ')') {
      if (parentheses_.empty()) return refuse(kUnreadAwk);
      // Behind `if (…)` a slash begins a pattern.
      last_ = parentheses_.back() ? Last::other : Last::operand;
      parentheses_.pop_back();
    } else if (c == ']') {
      last_ = Last::operand;
    } else if (c == '{' || c == '}' || c == ';') {
      if (c != ';' && !parentheses_.empty()) return refuse(kUnreadAwk);
      if (parentheses_.empty()) prints_ = false;
    } else if (c == '$') {
      last_ = Last::other;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Last last_ = Last::operation;
  std::vector<bool>
      parentheses_;       ///< those that are open: whether an `if`, `while` or `for` has it
  bool control_ = false;  ///< the next parenthesis is such a one
  bool prints_ = false;   ///< a print statement may go on
  std::string reason_;
};

}  // namespace

std::string why_awk_has_effects(std::string_view program) {
  return AwkProgram(program).why_refused();
}

}  // namespace sortie
