#include "core/text/git_quote.h"

#include <boost/test/unit_test.hpp>

#include "core/text/text.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(git_quote)

BOOST_AUTO_TEST_CASE(a_name_that_is_shown_is_one_line_and_leads_back_to_the_file) {
  const struct {
    std::string name;
    std::string shown;
  } rows[] = {
      {"plain name.txt", "plain name.txt"},
      {"\xC3\xA4.txt", "\xC3\xA4.txt"},
      {"a\nb", R"("a\nb")"},
      {"\x1b[31mred", R"("\033[31mred")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"a\xE2\x80\xAEtxt.exe", R"("a\342\200\256txt.exe")"},
      {"\xC3\xA4\xE2\x81\xA6", "\"\xC3\xA4\\342\\201\\246\""},
      {"\xC2\x9B", R"("\302\233")"},
      {"a\xFF"
       "b\x80",
       R"("a\377b\200")"},
      {"\xC3\xA4\xFF", R"("\303\244\377")"},
      {"\x7f", R"("\177")"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.shown) {
      const std::string shown = git_quoted_for_reading(row.name);

      BOOST_TEST(shown == row.shown);
      BOOST_TEST(one_line(shown) == shown);
      BOOST_TEST(git_unquoted(shown).value_or(shown) == row.name);
      BOOST_TEST(git_unquoted(git_quoted(row.name)).value_or(row.name) == row.name);
    }
}

BOOST_AUTO_TEST_CASE(text_in_quotes_that_no_name_needs_is_a_name_as_it_is) {
  for (const std::string text : {R"("plain")", R"("a" b)", R"("a\qb")", R"("a\n)", R"(")", R"("")",
                                 R"("\141")", R"("\400")", R"("a\nb"c)", "a\\nb", ""})
    BOOST_TEST(!git_unquoted(text), text);
}

BOOST_AUTO_TEST_SUITE_END()
