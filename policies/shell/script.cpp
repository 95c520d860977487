#include "policies/shell/script.h"

#include <algorithm>
#include <utility>

#include "core/text/text.h"
#include "policies/shell/harmless_variables.h"
#include "policies/shell/lexer.h"
#include "policies/shell/lookup.h"
#include "policies/shell/loop_words.h"

namespace sortie {
namespace {

using Kind = ScriptToken::Kind;

constexpr std::size_t kMaxPart = 40;

// bash(1), RESERVED WORDS; refusing `in` and `]]` as a command's name too costs nothing.
constexpr std::string_view kReserved[] = {
    "!",   "[[",       "]]", "case", "coproc", "do",   "done", "elif",  "else",  "esac", "fi",
    "for", "function", "if", "in",   "select", "then", "time", "until", "while", "{",    "}"};

/// They end a list of commands where a command could begin.
constexpr std::string_view kClosing[] = {"then", "do", "done", "elif", "else", "fi", "}"};

constexpr const char* kMissing = "a command is missing here";

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

/// "./gradlew", ".venv/bin/pytest", "../configure": parts joined by "/", the last one a name.
bool is_relative_name(std::string_view text) {
  const auto last = text.rfind('/');
  if (last == std::string_view::npos || !is_name(text.substr(last + 1))) return false;
  std::string_view folders = text.substr(0, last);
  for (;;) {
    const auto slash = std::min(folders.find('/'), folders.size());
    const std::string_view part = folders.substr(0, slash);
    if (part != "." && part != ".." && !is_name(part)) return false;
    if (slash == folders.size()) return true;
    folders.remove_prefix(slash + 1);
  }
}

/// Why a word can't be a command's name, or "".
const char* why_no_name(const ScriptWord& word) {
  const std::string& text = word.text;
  const bool expands = text.find_first_of("\x02\x05\x06") != std::string::npos;
  if (expands) return "a command's name can't be a variable: write the name itself";
  if (word.assigns || text.find('=') != std::string::npos)
    return "a variable can only be set before a command's name: write NAME=VALUE COMMAND";
  if (!word.bare) return "write the command's name without quotes";
  if (text == "[" || text == ":") return "";
  if (is_reserved_word(text))
    return "only `if … fi`, `for NAME in WORDS … done`, ( ) and { } are supported: send plain "
           "commands";
  if (word.glob) return "globs are not supported in a command's name";
  // "-" would begin an option of bash; neither begins a program's name.
  if (text.front() == '-' || text.front() == '+') return "a command's name can't begin with - or +";
  if (is_name(text) || is_absolute_name(text) || is_relative_name(text)) return "";
  return "a command's name has only letters, digits and . _ + - in it, and / between folders";
}

/// Whether a loop may set it: no environment variable and none that means something to bash.
bool is_loop_name(const ScriptWord& word) {
  const std::string& text = word.text;
  const bool letters = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  return word.bare && !word.glob && letters && !text.empty() && text[0] >= 'a' &&
         text.size() <= 32 && text != "histchars" && text != "auto_resume" &&
         text.find("proxy") == std::string::npos && !text.starts_with("npm_");
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
    } else if (advance() && read_list(tree_, "")) {
      flatten(tree_, ScriptLink::first, reading_.root);
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

  bool refuse(std::size_t at, std::string_view reason) {
    if (reading_.refused) return false;
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
    return false;
  }

  // ---- tokens --------------------------------------------------------------------------------

  bool advance() {
    token_ = lexer_.next();
    if (token_.kind == Kind::refused) return refuse(lexer_.refusal().at, lexer_.refusal().reason);
    return true;
  }
  bool skip_newlines() {
    while (token_.kind == Kind::newline)
      if (!advance()) return false;
    return true;
  }
  bool is_word(std::string_view text) const {
    return token_.kind == Kind::word && token_.word.bare && token_.alternatives.empty() &&
           token_.word.text == text;
  }
  /// The token has to be this reserved word.
  bool take(std::string_view text) {
    if (!is_word(text)) return refuse(token_.at, "`" + std::string(text) + "` is missing here");
    return advance();
  }
  bool closes() const {
    if (token_.kind == Kind::end || token_.kind == Kind::close) return true;
    return token_.kind == Kind::word && token_.word.bare && token_.alternatives.empty() &&
           is_one_of(token_.word.text, kClosing);
  }

  // ---- lists and pipelines -------------------------------------------------------------------

  /// Reads commands up to a word or sign that ends a list, which is left.
  /// @param end  what ends it: "", ")", "}", "fi" …; for messages and to see what does not
  bool read_list(ScriptTree& list, std::string_view end) {
    list.kind = ScriptNode::Kind::list;
    if (++depth_ > kMaxScriptDepth) return refuse(token_.at, "too many loops in each other");
    for (ScriptLink link = ScriptLink::first;;) {
      if (!skip_newlines()) return false;
      const bool may_end = link == ScriptLink::then;
      if (closes() && may_end) break;
      if (!read_pipeline(list.parts.emplace_back(), link)) return false;
      const Kind kind = token_.kind;
      if (kind == Kind::and_then || kind == Kind::or_else) {
        link = kind == Kind::and_then ? ScriptLink::and_then : ScriptLink::or_else;
      } else if (kind == Kind::semicolon || kind == Kind::newline) {
        link = ScriptLink::then;
      } else {
        break;
      }
      if (!advance()) return false;
    }
    --depth_;
    return ends_with(end) || refuse(token_.at, why_not_ended(end));
  }

  bool ends_with(std::string_view end) const {
    if (end.empty()) return token_.kind == Kind::end;
    if (end == ")") return token_.kind == Kind::close;
    return token_.kind == Kind::word && token_.word.bare && closes();
  }

  std::string why_not_ended(std::string_view end) const {
    if (token_.kind == Kind::close) return "a ) without its (";
    if (token_.kind == Kind::open)
      return "functions and arrays are not supported: put a literal parenthesis in '…'";
    if (end.empty()) return "`" + token_.word.text + "` ends nothing here";
    return "`" + std::string(end) + "` is missing here";
  }

  bool read_pipeline(ScriptTree& node, ScriptLink link) {
    // Neither changes what runs.
    if (is_word("time")) {
      if (!advance()) return false;
      if (is_word("-p") && !advance()) return false;
    }
    const bool negated = is_word("!");
    if (negated && !advance()) return false;
    ScriptTree first;
    if (!read_element(first)) return false;
    if (token_.kind != Kind::pipe) {
      node = std::move(first);
      // A group of its own, since what is in it may be negated too.
      if (negated) {
        ScriptTree group{.kind = ScriptNode::Kind::list};
        group.parts.push_back(std::move(node));
        node = std::move(group);
      }
      node.negated = negated;
      node.link = link;
      return true;
    }
    node.kind = ScriptNode::Kind::pipeline;
    node.negated = negated;
    node.link = link;
    node.parts.push_back(std::move(first));
    while (token_.kind == Kind::pipe) {
      if (!advance() || !skip_newlines()) return false;
      ScriptTree& part = node.parts.emplace_back();
      if (!read_element(part)) return false;
      part.link = ScriptLink::pipe;
    }
    return true;
  }

  bool read_element(ScriptTree& node) {
    if (token_.kind == Kind::open) {
      if (!advance() || !read_list(node, ")") || !advance()) return false;
      node.kind = ScriptNode::Kind::subshell;
      return skip_redirections();
    }
    if (is_word("{")) {
      return advance() && read_list(node, "}") && take("}") && skip_redirections();
    }
    if (is_word("if")) return read_choice(node) && skip_redirections();
    if (is_word("for")) return read_loop(node) && skip_redirections();
    return read_command(node);
  }

  /// Those of a group, loop or condition change only where its output goes.
  bool skip_redirections() {
    while (token_.kind == Kind::redirection) {
      using Redirection = ScriptRedirection::Kind;
      const Redirection kind = token_.redirection.kind;
      if (kind == Redirection::input || kind == Redirection::text)
        return refuse(token_.at, "input for a group is not supported: pass it to the command");
      if (!advance()) return false;
    }
    if (token_.kind == Kind::word && !closes())
      return refuse(token_.at, "a ; or a newline is missing here");
    return true;
  }

  bool read_choice(ScriptTree& node) {
    node.kind = ScriptNode::Kind::choice;
    for (;;) {
      if (!advance() || !read_list(node.parts.emplace_back(), "then") || !take("then"))
        return false;
      if (!read_list(node.parts.emplace_back(), "fi")) return false;
      if (is_word("elif")) continue;
      if (is_word("else") && (!advance() || !read_list(node.parts.emplace_back(), "fi")))
        return false;
      return take("fi");
    }
  }

  bool read_loop(ScriptTree& node) {
    if (!advance()) return false;
    if (token_.kind != Kind::word || !token_.alternatives.empty() || !is_loop_name(token_.word))
      return refuse(token_.at, "a loop's variable has a short name of small letters");
    const std::string name = token_.word.text;
    if (!advance() || !take("in")) return false;
    std::vector<ScriptWord> items;
    while (token_.kind == Kind::word) {
      if (token_.word.text.find_first_of("\x02\x05\x06") != std::string::npos)
        return refuse(token_.at, "a loop's words have to be literal");
      if (!append_words(items) || !advance()) return false;
    }
    if (items.empty()) return refuse(token_.at, "a loop needs literal words");
    if (token_.kind != Kind::semicolon && token_.kind != Kind::newline)
      return refuse(token_.at, "a ; or a newline is missing here");
    if (!advance() || !skip_newlines()) return false;
    if (!is_word("do")) return refuse(token_.at, "`do` is missing here");
    const auto& outer = lexer_.variables;
    if (outer.size() == kMaxLoops || std::count(outer.begin(), outer.end(), name) > 0)
      return refuse(token_.at, "too many loops in each other, or two with the same variable");
    lexer_.variables.push_back(name);
    ScriptTree body;
    if (!advance() || !read_list(body, "done")) return false;
    lexer_.variables.pop_back();
    if (!take("done")) return false;
    return repeat(node, body, items);
  }

  /// The loop's commands once for each word.
  bool repeat(ScriptTree& node, const ScriptTree& body, const std::vector<ScriptWord>& items) {
    node.kind = ScriptNode::Kind::list;
    const std::size_t number = lexer_.variables.size();
    const ScriptSize size = size_of(body);
    for (const ScriptWord& item : items) {
      listed_ += size.commands;
      if (listed_ > kMaxScriptCommands || size.bytes > room_)
        return refuse(item.at, "the script has too many commands");
      room_ -= size.bytes;
      ScriptTree& round = node.parts.emplace_back(body);
      round.link = &item == &items.front() ? ScriptLink::first : ScriptLink::then;
      if (item.glob && !mark_repeated(round))
        return refuse(item.at, "cd in a loop over a glob is not supported: send plain commands");
      if (const auto at = set_loop_variable(round, number, item, room_))
        return refuse(*at, "a loop's variable that may hold blanks or a glob has to be in \"…\"");
    }
    return true;
  }

  // ---- commands ------------------------------------------------------------------------------

  bool read_command(ScriptTree& node) {
    SimpleCommand& command = node.command;
    const std::size_t at = token_.at;
    for (;;) {
      if (token_.kind == Kind::word) {
        if (!read_word(command)) return false;
      } else if (token_.kind == Kind::redirection) {
        command.redirections.push_back(std::move(token_.redirection));
      } else {
        break;
      }
      if (!advance()) return false;
    }
    if (token_.kind == Kind::open)
      return refuse(token_.at,
                    "functions and arrays are not supported: put a literal "
                    "parenthesis in '…'");
    if (command.words.empty()) return refuse_missing(command, at);
    if (std::count_if(command.words.begin(), command.words.end(),
                      [](const ScriptWord& word) { return word.may_vanish; }) > 1)
      return refuse(command.words[0].at, "more than one $(nproc) in a command");
    return check_assignments(command);
  }

  bool refuse_missing(const SimpleCommand& command, std::size_t at) {
    if (!command.assignments.empty())
      return refuse(at, "a variable can only be set for a command: write NAME=VALUE COMMAND");
    const bool nothing = !any_ && token_.kind == Kind::end;
    return refuse(token_.at, nothing ? "the script has no command" : kMissing);
  }

  bool read_word(SimpleCommand& command) {
    if (!command.words.empty()) return append_words(command.words);
    const ScriptWord& word = token_.word;
    if (!token_.alternatives.empty()) return refuse(word.at, "write the command's name itself");
    if (word.assigns) {
      if (word.text.find_first_of("\x02\x05\x06") != std::string::npos)
        return refuse(word.at, "a variable's value has to be literal");
      const auto equals = word.text.find('=');
      command.assignments.push_back({word.text.substr(0, equals), word.text.substr(equals + 1)});
      assigned_at_ = word.at;
      return true;
    }
    if (const char* const why = why_no_name(word); *why != '\0') return refuse(word.at, why);
    command.words.push_back(word);
    any_ = true;
    return true;
  }

  bool check_assignments(const SimpleCommand& command) {
    for (const ScriptAssignment& each : command.assignments) {
      const auto why = why_not_harmless(each.name, each.value, base_name(command.words[0].text));
      if (!why.empty()) return refuse(assigned_at_, each.name + ": " + std::string(why));
    }
    return true;
  }

  /// The token's word, or all those that its braces stand for.
  bool append_words(std::vector<ScriptWord>& words) {
    if (words.size() + token_.alternatives.size() > kMaxScriptWords)
      return refuse(token_.at, "the script has too many words");
    words.push_back(std::move(token_.word));
    for (std::size_t i = 0; i < token_.alternatives.size(); ++i) {
      if (i > 0) words.push_back(words.back());
      words.back().text = token_.alternatives[i];
    }
    return true;
  }

  // ---- the listing ---------------------------------------------------------------------------

  /// Moves the commands of the tree to the listing. The link to what came before is that of its
  /// first command.
  void flatten(ScriptTree& tree, ScriptLink link, ScriptNode& node) {
    node.kind = tree.kind;
    node.link = link;
    node.negated = tree.negated;
    if (tree.kind == ScriptNode::Kind::command) return list(tree.command, link, node);
    for (ScriptTree& part : tree.parts) {
      if (reading_.refused) return;
      if (&tree == &tree_) unit_ = static_cast<std::size_t>(&part - tree_.parts.data());
      const bool first = &part == &tree.parts.front();
      const bool in_choice = tree.kind == ScriptNode::Kind::choice;
      flatten(part,
              first       ? link
              : in_choice ? ScriptLink::then
                          : part.link,
              node.parts.emplace_back());
    }
  }

  void list(SimpleCommand& command, ScriptLink link, ScriptNode& node) {
    node.command = reading_.commands.size();
    words_ += command.words.size();
    const std::size_t at = command.words[0].at;
    if (words_ > kMaxScriptWords) refuse(at, "the script has too many words");
    if (node.command == kMaxScriptCommands) refuse(at, "the script has too many commands");
    command.link = link;
    command.unit = unit_;
    for (ScriptRedirection& redirection : command.redirections) {
      const auto document = lexer_.documents().find(redirection.at);
      if (document != lexer_.documents().end()) redirection.file = document->second;
    }
    reading_.commands.push_back(std::move(command));
  }

  std::string_view script_;
  ScriptLexer lexer_;
  ScriptToken token_;
  ScriptTree tree_;
  ScriptReading reading_;
  std::size_t words_ = 0;
  std::size_t listed_ = 0;       ///< commands of loops, repeated
  std::size_t room_ = 4u << 20;  ///< bytes that loops may still take
  std::size_t unit_ = 0;
  std::size_t assigned_at_ = 0;
  int depth_ = 0;
  bool any_ = false;  ///< a command has been read
};

}  // namespace

bool is_reserved_word(std::string_view word) { return is_one_of(word, kReserved); }

ScriptReading read_script(std::string_view script) { return ScriptReader(script).read(); }

}  // namespace sortie
