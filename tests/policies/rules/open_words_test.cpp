#include "policies/rules/open_words.h"

#include <fnmatch.h>

#include <string>

#include <boost/test/unit_test.hpp>

#include "core/text/pattern.h"
#include "policies/shell/script_word.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(open_words)

BOOST_AUTO_TEST_CASE(a_word_meets_a_glob_where_some_expansion_does) {
  const struct {
    std::string word;
    const char* glob;
    bool may;
  } rows[] = {
      {"src/*.py", "/*", false},
      {"src/*.py", "..", false},
      {"src/*.py", "../*", false},
      {"src/*.py", "*/..", false},
      {"src/*.py", "*/../*", false},
      {"src/*", "*/..", false},
      {"src/.*", "*/..", true},
      {"*", "..", false},
      {"*", "/*", false},
      {"*", "-f*", true},
      {"./*", "-f*", false},
      {"?f", "-f*", true},
      {"a*", "--config*", false},
      {"a*c", "*b*", true},
      {"a?c", "abbc", false},
      {"[ab]x", "ax", true},
      {"[ab]x", "-*", true},
      {"x[ab]", "-*", false},
      {"*/x", "../*", false},
      {"a*", "*=*", true},
      {"a.c", "*.c", true},
      {"a.c", "*.h", false},
      {std::string("-j") + kNumberMark, "-[!-]*[fCIE]*", false},
      {std::string("-j") + kNumberMark, "-j[0-9]*", true},
      {std::string("-j") + kNumberMark, "-j", true},
      {std::string("V=") + kNumberMark, "V=??*", true},
      {std::string(1, kNumberMark), "-*", false},
      {std::string("./") + kPathMark, "/*", false},
      {std::string("./") + kPathMark, "../*", false},
      {std::string("./") + kPathMark, "*/..", false},
      {std::string("./") + kPathMark, "*/../*", false},
      {std::string("./") + kPathMark, "-*", false},
      {std::string("./") + kPathMark, "*/.git/*", true},
      {std::string("./") + kPathMark, "*...x", true},
      {std::string(1, kAnyMark), "-*", true},
      {std::string(1, kAnyMark), "..", true},
      {std::string(1, kAnyMark), "", true},
      {"gr\xc3\xb6\xc3\x9f*", "x?", true},
  };
  for (const auto& row : rows)
    BOOST_TEST(may_become(row.word, row.glob) == row.may, shown_word(row.word) << " " << row.glob);
}

// Each text that both match is a reason to say yes: compared over all short texts.
BOOST_AUTO_TEST_CASE(no_meeting_is_missed_among_short_texts) {
  const std::string letters = "a./-";
  std::vector<std::string> texts = {""};
  for (std::size_t from = 0, length = 1; length <= 5; ++length) {
    const std::size_t to = texts.size();
    for (std::size_t i = from; i < to; ++i)
      for (const char c : letters) texts.push_back(texts[i] + c);
    from = to;
  }
  const char* const words[] = {"*",  "a*",  "*a",    "?",  "a?",  "./*",
                               ".*", "*/*", "a/*.a", "-*", "?a/?"};
  const char* const globs[] = {"*",  "..", "/*",  "../*", "*/..",    "*/../*", "-*",
                               "a*", "?a", "-?*", "*.a",  "[!-]*-*", "[a.]*",  "*a/*"};
  for (const char* word : words) {
    for (const char* glob : globs) {
      const Pattern pattern = Pattern::word_glob(glob);
      bool meets = false;
      for (const std::string& text : texts)
        meets = meets || (::fnmatch(word, text.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0 &&
                          pattern.matches(text));
      if (meets) BOOST_TEST(may_become(word, glob), word << " " << glob);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
