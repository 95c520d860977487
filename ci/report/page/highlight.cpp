#include "ci/report/page/highlight.h"

#include <algorithm>
#include <iterator>

#include "core/text/text.h"

namespace sortie {

struct CodeLanguage {
  std::string_view endings;    ///< of file names, each between two spaces
  std::string_view words;      ///< likewise
  std::string_view comment{};  ///< to the line's end
  std::string_view open{};     ///< a comment over lines
  std::string_view close{};
  std::string_view quotes = "\"'";
};

namespace {

constexpr std::string_view kCWords =
    " alignas auto bool break case catch char class const constexpr continue default delete do double"
    " else enum explicit extern false final float for friend goto if inline int long mutable namespace"
    " new noexcept nullptr operator override private protected public return short signed sizeof static"
    " struct switch template this throw true try typedef typename union unsigned using virtual void"
    " volatile while co_await co_return co_yield requires concept size_t ";
constexpr std::string_view kScriptWords =
    " abstract any as async await boolean break case catch class const constructor continue declare"
    " default delete do else enum export extends false finally for from function get if implements"
    " import in instanceof interface let new null number of private protected public readonly return"
    " set static string super switch this throw true try type typeof undefined unknown var void while"
    " yield ";
constexpr std::string_view kJavaWords =
    " abstract boolean break byte case catch char class const continue default do double else enum"
    " extends false final finally float for fun if implements import in instanceof int interface"
    " internal is long namespace new null object open override package private protected public record"
    " return short static string super switch this throw throws true try using val var void volatile"
    " when while yield ";

constexpr CodeLanguage kLanguages[] = {
    {" c h cc cpp cxx hpp hh ino cu m mm ", kCWords, "//", "/*", "*/"},
    {" js jsx ts tsx mjs cjs mts cts vue svelte ", kScriptWords, "//", "/*", "*/", "\"'`"},
    {" java kt kts cs scala groovy gradle dart swift ", kJavaWords, "//", "/*", "*/"},
    {" py pyi ",
     " False None True and as assert async await break case class continue def del elif else except"
     " finally for from global if import in is lambda match nonlocal not or pass raise return self try"
     " while with yield ",
     "#"},
    {" rs ",
     " as async await break const continue crate dyn else enum extern false fn for if impl in let loop"
     " match mod move mut pub ref return self Self static struct super trait true type unsafe use where"
     " while bool char str i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 usize isize ",
     "//", "/*", "*/", "\""},
    {" go ",
     " any bool break byte case chan const continue default defer else error fallthrough false float64"
     " for func go goto if import int int64 interface map nil package range return rune select string"
     " struct switch true type uint var ",
     "//", "/*", "*/", "\"'`"},
    {" rb rake gemspec ",
     " alias and begin break case class def do else elsif end ensure false for if in module next nil not"
     " or raise redo require rescue retry return self super then true undef unless until when while"
     " yield ",
     "#"},
    {" php ",
     " abstract array as break case catch class const continue declare default do echo else elseif extends"
     " false final fn for foreach function if implements interface namespace new null private protected"
     " public return static switch this throw true try use var while ",
     "//", "/*", "*/"},
    {" sh bash zsh bats dockerfile makefile mk cmake cmakelists.txt toml ini cfg conf properties tf ",
     " case do done elif else esac export fi for function if in local return set then until while false"
     " true FROM RUN COPY ENV ARG WORKDIR ENTRYPOINT CMD USER endif foreach endforeach endfunction ",
     "#"},
    {" yaml yml ", " true false null ", "#"},
    {" json json5 jsonc ", " true false null ", "", "", "", "\""},
    {" sql ",
     " and as asc by case create delete desc distinct drop else end exists from group having in index"
     " insert into is join key left limit not null on or order primary select set table then union"
     " update values view when where with AND AS BY CASE CREATE DELETE DROP ELSE END FROM GROUP INSERT"
     " INTO IS JOIN KEY LEFT LIMIT NOT NULL ON OR ORDER PRIMARY SELECT SET TABLE THEN UPDATE VALUES"
     " WHERE WITH ",
     "--", "/*", "*/"},
    {" lua ",
     " and break do else elseif end false for function if in local nil not or repeat return then"
     " true until while ",
     "--"},
    {" css scss less ", " ", "", "/*", "*/"},
    {" html htm xml svg xsd plist ", " ", "", "<!--", "-->", "\""},
};

bool has_word(std::string_view words, std::string_view word) {
  for (auto at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    if (at > 0 && words[at - 1] == ' ' && words[at + word.size()] == ' ') return true;
  }
  return false;
}

bool starts_word(char c) { return c == '_' || (is_ascii_alphanumeric(c) && !is_ascii_digit(c)); }
bool in_word(char c) { return c == '_' || is_ascii_alphanumeric(c); }

bool begins_at(std::string_view line, std::size_t at, std::string_view mark) {
  return !mark.empty() && line.substr(at).starts_with(mark);
}

}  // namespace

const CodeLanguage* language_of(std::string_view path) noexcept {
  const std::string name = ascii_lower(path.substr(path.find_last_of('/') + 1));
  const std::string_view ending = std::string_view(name).substr(name.find_last_of('.') + 1);
  for (const auto& language : kLanguages) {
    if (has_word(language.endings, name) ||
        (!ending.empty() && has_word(language.endings, ending))) {
      return &language;
    }
  }
  return nullptr;
}

std::size_t Highlighter::comment_at(std::string_view line, std::size_t at) {
  if (!in_comment_) {
    // "#" begins a comment only after a blank: "$#" and "a#b" are none.
    const bool apart = language_->comment != "#" || at == 0 || is_blank(line[at - 1]);
    if (apart && begins_at(line, at, language_->comment)) return line.size();
    if (!begins_at(line, at, language_->open)) return at;
  }
  const auto from = in_comment_ ? at : at + language_->open.size();
  const auto end = line.find(language_->close, from);
  in_comment_ = end == std::string_view::npos;
  return in_comment_ ? line.size() : end + language_->close.size();
}

std::size_t Highlighter::text_at(std::string_view line, std::size_t at) const {
  if (language_->quotes.find(line[at]) == std::string_view::npos) return at;
  for (std::size_t end = at + 1; end < line.size(); ++end) {
    if (line[end] == '\\') {
      ++end;
    } else if (line[end] == line[at]) {
      return end + 1;
    }
  }
  return line.size();
}

std::size_t Highlighter::write_word(Html& html, std::string_view line, std::size_t at) const {
  const auto begin = line.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end =
      static_cast<std::size_t>(std::find_if_not(begin, line.end(), in_word) - line.begin());
  const auto word = line.substr(at, end - at);
  if (is_ascii_digit(word[0])) {
    html << "<span class=\"n\">" << word << "</span>";
  } else if (has_word(language_->words, word)) {
    html << "<span class=\"k\">" << word << "</span>";
  } else if (end < line.size() && line[end] == '(') {
    html << "<span class=\"f\">" << word << "</span>";
  } else {
    html << word;
  }
  return end;
}

void Highlighter::write(Html& html, std::string_view line) {
  // A line of minified code has nothing to read in colours.
  if (language_ == nullptr || line.size() > 2000) {
    html << line;
    return;
  }
  std::size_t plain = 0;
  for (std::size_t at = 0; at < line.size();) {
    const auto flush = [&] { html << line.substr(plain, at - plain); };
    const bool was_open = in_comment_;
    if (const auto end = comment_at(line, at); end > at || (was_open && !in_comment_)) {
      flush();
      html << "<span class=\"c\">" << line.substr(at, end - at) << "</span>";
      plain = at = end;
    } else if (const auto quoted = text_at(line, at); quoted > at) {
      flush();
      html << "<span class=\"s\">" << line.substr(at, quoted - at) << "</span>";
      plain = at = quoted;
    } else if (starts_word(line[at]) || is_ascii_digit(line[at])) {
      flush();
      plain = at = write_word(html, line, at);
    } else {
      ++at;
    }
  }
  html << line.substr(plain);
}

}  // namespace sortie
