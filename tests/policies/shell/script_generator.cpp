#include "tests/policies/shell/script_generator.h"

#include <utility>

namespace sortie::tests {
namespace {

const std::vector<std::string_view> kBare = {
    "a", "bc",  "-n",  "--opt=v",  "x.c", "src/a", "/",    "1",     "22", "@",  "%s",
    "^", "=",   "a=b", ":",        ",",   "+",     "_",    ".",     "..", "-",  "--",
    "]", "a#b", "b~",  "\xc3\xa9", "if",  "done",  "time", "HEAD^", "0x", "in", "\xf0\x9f\x98\x80"};
const std::vector<std::string_view> kGlobs = {"*",     "?", "[ab]", "*.c", "a*",  "src/*", "[!a]",
                                              "[a-z]", "[", "[]a]", "*[",  "./*", "x?y"};
/// What only the shell knows, or makes more of.
const std::vector<std::string_view> kExpanded = {
    "$?",        "\"$?\"",   "$(nproc)", "-j$(nproc)", "\"$(nproc)\"",
    "{a,b}",     "x{1..3}y", "{3..1}",   "*.{c,h}",    "{}",
    "{",         "}",        "!",        "\\*",        "\\ a",
    "\\$x",      "\\;",      "a\\\"",    "HEAD@{1}",   "{ab}",
    "src/{a,b}", "a!b",      "\\-n",     "$?$?",       "{1,-n}",
    "{1..3}",    "{if,in}",  "{ab,*}"};
const std::vector<std::string_view> kAssignments = {
    "CI=1 ",           "NO_COLOR= ", "TERM=dumb ",        "LC_ALL=C ",      "CI='1' ",
    "COLUMNS=\"80\" ", "CI=true ",   "RUST_BACKTRACE=1 ", "NODE_ENV=test ", "TZ=UTC CI=1 "};
const std::vector<std::string_view> kOutsideAssignments = {
    "A=1 ",     "PATH=. ", "CI=$x ",    "CI=1; ",    "CI=* ",      "CI=~ ", "CI={1,0} ",
    "CI=$? ",   "CI+=1 ",  "CI= 1 ",    "IFS=a ",    "CI=1\n",     "f=aa ", "CI=1&& ",
    "CI[0]=1 ", "\\CI=1 ", "C\"I\"=1 ", "TERM=a/b ", "BASH_ENV=x "};
const std::vector<std::string_view> kDocuments = {" <<EOF\nx\nEOF\n",
                                                  " <<'EOF'\n$x `aa`\nEOF\n",
                                                  " <<-EOF\n\tx\n\tEOF\n",
                                                  " <<<a",
                                                  " <<< 'a b'",
                                                  " <<E 2>&1\nbb a\nE\n",
                                                  " <<EOF | aa\nx\nEOF\n",
                                                  " <<A <<B\n1\nA\n2\nB\n"};
const std::vector<std::string_view> kOutsideDocuments = {" <<EOF\n$x\nEOF\n",
                                                         " <<EOF\nx\nEOF",
                                                         " <<EOF\nx\n EOF\n",
                                                         " <<$x\nEOF\n",
                                                         " <<EOF 'a\nEOF\n'\nx\nEOF\n",
                                                         " <<E* \nx\nE*\n",
                                                         " <<\\E\nx\nE\n",
                                                         " <<<$x",
                                                         " <<EOF;aa\nx\nEOF\n",
                                                         " <<<*",
                                                         " <<{a,b}\na\naa <<'X'\n{a,b}\nbb\nX\n",
                                                         " <<{1..3}\n1\n{1..3}\n",
                                                         " <<E $(\nnproc)\nE\n"};
const std::vector<std::string_view> kLoopWords = {"a",     "b c",    "-n",  "'x y'", "\"*\"",
                                                  "1 2 3", "{1..3}", "a/b", "*.c"};
const std::vector<std::string_view> kOutside = {
    "$x",   "${x}",  "$(aa)", "`aa`", "$((1))", "$'a'", "$\"a\"", "{a,b}", "{1..3}",
    "~",    "~root", "a=~",   ":~",   "\\",     "\\ ",  "\\\n",   "!",     "!!",
    "#",    "(",     ")",     "{",    "}",      "\x01", "\x7f",   "\r",    "\xc2\xa0",
    "\x80", "$",     "<(aa)", "+(a)", "@(a|b)", "=aa"};
const std::vector<std::string_view> kQuotedLetters = {
    "a",    " ",  "b c",  "*",  "?",  "[",        "~", "#",  "!",  "{a,b}",
    ";",    "&",  "|",    "<",  ">",  "(",        ")", "\n", "\t", "$(aa)",
    "`aa`", "\\", "\\\\", "\"", "$x", "\xc3\xa9", "=", "%"};
const std::vector<std::string_view> kInDoubleQuotes = {
    "a",    " ",   "b c", "*",   "?",   "[",        "~",        "#",   "!",  "{a,b}",
    ";",    "&",   "|",   "<",   "(",   ")",        "\n",       "\t",  "'",  "\\\"",
    "\\\\", "\\$", "\\`", "\\a", "\\n", "\\!",      "\\*",      "\\ ", "$ ", "$|",
    "$)",   "\\'", "%",   "=",   ":~",  "\xc3\xa9", "\\\\\\\"", "''"};
const std::vector<std::string_view> kOutsideInDoubleQuotes = {
    "$x", "${x}", "$(aa)", "`aa`",    "$((1))",   "\\\n",   "$'",   "$*", "$@",   "$1", "$$",
    "$/", "$.",   "\\$x",  "\\$(aa)", "\\`aa\\`", "\\\\$x", "\x01", "\r", "$[1]", "$\\"};
const std::vector<std::string_view> kRedirections = {
    "2>&1", ">&2",       "1>&2",      ">/dev/null", "> /dev/null", "2>/dev/null",  "2>> /dev/null",
    ">&1",  "<in.txt",   "< in.txt",  "0<in.txt",   "&>/dev/null", "&>>/dev/null", ">\"/dev/null\"",
    "3>&1", "<'in.txt'", "< src/a.c", "< missing",  ">\t/dev/null"};
const std::vector<std::string_view> kOutsideRedirections = {
    ">out",       ">>out",   "2>out", ">|/dev/null", "<>in.txt",  "<&0",         "<&-",
    ">&-",        ">&2-",    ">&12",  ">& 2",        "12>&1",     "<<EOF",       "<<<a",
    ">&out",      ">&$x",    ">*",    "<*",          ">/dev/nul", ">/dev/nullx", "2>&1>&2",
    ">&1<in.txt", "{fd}>&1", "<",     ">",           "&>",        ">&1a",        "1>&2;>out"};
const std::vector<std::string_view> kLinks = {" && ",  "&&",  " || ", "||",      "; ",
                                              ";",     " | ", "|",    "\n",      " &&\n",
                                              "|\n\n", ";\n", "\n\n", " ||\t\n "};
const std::vector<std::string_view> kOutsideLinks = {" & ", "&",   "|&",   ";;",  "; ;", "&&&&",
                                                     "|||", "\n;", "\r\n", "&&|", ";&",  "\n&&"};
const std::vector<std::string_view> kOutsideNames = {
    "if",   "time",   "!",    "{",     "A=1",  "A=1 aa", "'aa'", "\"aa\"", "a\"a\"",   "aa*",
    "[[",   "case",   "for",  "while", "-x",   "+x",     "./aa", "../aa",  "function", "a=(1)",
    "aa()", "coproc", "\\aa", "$x",    "~/aa", "a/b",    "//aa", "#aa",    "``",       "a+=b"};
const std::vector<std::string_view> kBytes = {
    "'",  "\"", "\\", "$", "`", "&", "|", ";", "<",    ">",    "(",    ")",
    "{",  "}",  "*",  "?", "[", "]", "!", "#", "~",    "=",    ":",    " ",
    "\t", "\n", "\r", "a", "1", "2", "/", "-", "\x01", "\x7f", "\xc3", "\xa9"};

}  // namespace

ScriptGenerator::ScriptGenerator(std::uint64_t seed, std::vector<std::string> names,
                                 std::string folder)
    : state_(seed), names_(std::move(names)), folder_(std::move(folder)) {}

std::size_t ScriptGenerator::below(std::size_t limit) {
  // splitmix64: the same on every machine, unlike the library's distributions.
  std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ull);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
  return static_cast<std::size_t>((mixed ^ (mixed >> 31)) % limit);
}

std::string_view ScriptGenerator::one_of(const std::vector<std::string_view>& choices) {
  return choices[below(choices.size())];
}

std::string ScriptGenerator::blanks() { return chance(85) ? " " : chance(50) ? "\t" : "   "; }

std::string ScriptGenerator::name() {
  if (!tame_ && chance(6)) return std::string(one_of(kOutsideNames));
  const std::string& known = names_[below(names_.size())];
  return chance(8) ? folder_ + '/' + known : known;
}

std::string ScriptGenerator::double_quoted() {
  std::string text = "\"";
  for (std::size_t i = below(4); i > 0; --i) {
    text += !tame_ && chance(8) ? one_of(kOutsideInDoubleQuotes) : one_of(kInDoubleQuotes);
  }
  return text + (chance(8) ? "$\"" : "\"");
}

std::string ScriptGenerator::single_quoted() {
  std::string text = "'";
  for (std::size_t i = below(4); i > 0; --i) text += one_of(kQuotedLetters);
  return text + "'";
}

std::string ScriptGenerator::part_of_word() {
  if (!tame_ && chance(5)) return std::string(one_of(kOutside));
  if (!variables_.empty() && chance(30)) {
    const std::string& name = variables_[below(variables_.size())];
    const std::string use = chance(50) ? "$" + name : "${" + name + "}";
    return chance(60) ? '"' + use + '"' : use;
  }
  if (chance(7)) return std::string(one_of(kExpanded));
  const std::size_t kind = below(100);
  if (kind < 50) return std::string(one_of(kBare));
  if (kind < 68) return single_quoted();
  return kind < 86 ? double_quoted() : std::string(one_of(kGlobs));
}

std::string ScriptGenerator::word() {
  std::string text;
  for (std::size_t i = 1 + below(chance(60) ? 1 : 4); i > 0; --i) text += part_of_word();
  return text;
}

std::string ScriptGenerator::redirection() {
  if (!tame_ && chance(20)) return std::string(one_of(kOutsideRedirections));
  return std::string(one_of(kRedirections));
}

std::string ScriptGenerator::command() {
  std::string text;
  if (chance(4)) text += redirection() + blanks();
  if (chance(6)) text += one_of(!tame_ && chance(30) ? kOutsideAssignments : kAssignments);
  text += name();
  for (std::size_t i = below(4); i > 0; --i) {
    const bool joined = chance(tame_ ? 1 : 4);
    text += (joined ? std::string() : blanks()) + (chance(14) ? redirection() : word());
  }
  if (chance(4)) text += one_of(!tame_ && chance(30) ? kOutsideDocuments : kDocuments);
  return text;
}

std::string ScriptGenerator::element(int depth) {
  const std::string before = chance(3) ? "! " : chance(3) ? "time " : "";
  if (depth > 2 || !chance(depth == 0 ? 22 : 10)) return before + command();
  std::string text = before;
  const std::string end = chance(70) ? "; " : "\n";
  switch (below(5)) {
    case 0:
      text += '(' + list(depth + 1) + ')';
      break;
    case 1:
      text += "{ " + list(depth + 1) + end + '}';
      break;
    case 2: {
      text += "if " + list(depth + 1) + end + "then " + list(depth + 1) + end;
      if (chance(30)) text += "elif " + list(depth + 1) + end + "then " + list(depth + 1) + end;
      if (chance(50)) text += "else " + list(depth + 1) + end;
      text += "fi";
      break;
    }
    default: {
      const std::string name(1, static_cast<char>('f' + variables_.size()));
      text += "for " + name + " in " + std::string(one_of(kLoopWords));
      if (chance(40)) text += ' ' + std::string(one_of(kLoopWords));
      variables_.push_back(!tame_ && chance(5) ? "q" : name);
      text += end + "do " + list(depth + 1) + end;
      variables_.pop_back();
      text += "done";
    }
  }
  return text + (chance(15) ? " 2>&1" : "");
}

std::string ScriptGenerator::list(int depth) {
  std::string text = element(depth);
  for (std::size_t i = below(depth == 0 ? 4 : 2); i > 0; --i) {
    text += !tame_ && chance(6) ? one_of(kOutsideLinks) : one_of(kLinks);
    if (chance(3)) text += "# it's a $comment\n";
    if (chance(2)) text += " \\\n";
    text += element(depth);
  }
  return text;
}

void ScriptGenerator::mutate(std::string& text) {
  for (std::size_t i = 1 + below(3); i > 0 && !text.empty(); --i) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text.erase(at, 1 + below(2));
        break;
      case 1:
        text.insert(at, one_of(kBytes));
        break;
      case 2:
        text.replace(at, 1, one_of(kBytes));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), 1 + below(6)));
        break;
      default:
        std::swap(text[at], text[below(text.size())]);
        break;
    }
  }
}

std::string ScriptGenerator::script() {
  tame_ = chance(45);
  std::string text = chance(3) ? "\n" : "";
  text += list(0);
  if (chance(6)) text += chance(50) ? ";" : "\n";
  if (!tame_ && chance(50)) mutate(text);
  return text;
}

}  // namespace sortie::tests
