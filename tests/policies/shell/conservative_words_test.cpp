#include "policies/shell/conservative_words.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

/// The words between blanks: ^ before a command's name, * for what is not known.
std::string shown(const std::string& script) {
  std::string text;
  for (LooseWord word : loose_words(script)) {
    std::replace(word.text.begin(), word.text.end(), kLooseAnything, '*');
    text += (text.empty() ? "" : " ") + std::string(word.starts_command ? "^" : "") + word.text;
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loose_script)

BOOST_AUTO_TEST_CASE(every_word_that_could_be_a_command_is_found) {
  const struct {
    const char* script;
    const char* words;
  } rows[] = {
      {"", ""},
      {"git push", "^git push"},
      {"a;b&&c|d||e&f\ng", "^a ^b ^c ^d ^e ^f ^g"},
      {"g''it \"pu\"sh", "^git push"},
      {"gi\\t pu\\\nsh", "^git push"},
      {"echo 'git push'", "^echo git push"},
      {"(a; b)", "^a ^b"},
      {"{ a; }", "^{ ^a ^}"},
      {"$x y", "^* y"},
      {"a${x}b c$y", "^a*b c*"},
      {"${x:-a} b", "^* ^x:-a} b"},
      {"g`echo i`t b", "^g* ^echo i* ^t b"},
      {"$(a b) c", "^* ^a b ^c"},
      {"echo `a`", "^echo * ^a*"},
      {"$'\\x73' y", "^* y"},
      {"cat <<E\n$'\nE\nsudo x\ncat <<E\n'\nE\n", "^cat E ^* ^E ^E ^sudo x ^cat E"},
      {"$'a\nb", "^* ^a ^b"},
      {"A=1 b", "^A=1 1 ^b"},
      {"> f a", "f ^a"},
      {"if a; then b; fi", "^if ^a ^then ^b ^fi"},
      {"/b?n/l[s] x", "^/b*n/l* x"},
      {"a{b,c}", "^a*"},
      {"[ -f x ]", "^[ -f x ]"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.script) { BOOST_TEST(shown(row.script) == row.words); }
  }
}

BOOST_AUTO_TEST_CASE(a_word_could_be_what_its_known_parts_allow) {
  const std::string any(1, kLooseAnything);
  BOOST_TEST(could_be("git", "git"));
  BOOST_TEST(!could_be("gi", "git"));
  BOOST_TEST(!could_be("gits", "git"));
  BOOST_TEST(could_be(any, ""));
  BOOST_TEST(could_be(any, "git"));
  BOOST_TEST(could_be("g" + any + "t", "git"));
  BOOST_TEST(could_be(any + "i" + any, "git"));
  BOOST_TEST(!could_be("x" + any, "git"));
  BOOST_TEST(!could_be(any + "x", "git"));
}

BOOST_AUTO_TEST_SUITE_END()
