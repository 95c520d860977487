// A list of globs answers the same before and after it has a filter of names.
#include "core/text/glob_list.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace sortie::test {
namespace {

BOOST_AUTO_TEST_SUITE(glob_lists)

BOOST_AUTO_TEST_CASE(an_empty_list_matches_nothing) { BOOST_TEST(!GlobList().matches("a")); }

BOOST_AUTO_TEST_CASE(many_questions_are_answered_as_the_first_ones_were) {
  GlobList globs;
  globs.add("**/.env", LetterCase::ignored);
  globs.add("Makefile", LetterCase::exact);
  globs.add("./secrets/", LetterCase::exact);
  for (int i = 0; i < 200; ++i) {
    BOOST_TEST(globs.matches("a/.ENV"));
    BOOST_TEST(globs.matches("Makefile"));
    BOOST_TEST(!globs.matches("makefile"));
    BOOST_TEST(globs.matches("secrets/a/b"));
    BOOST_TEST(!globs.matches("src/main.cpp"));
  }
}

BOOST_AUTO_TEST_CASE(a_list_of_everything_matches_the_thousandth_path_too) {
  for (const char* glob : {"**", "./**", "./**/", "././**"}) {
    GlobList globs;
    globs.add(glob, LetterCase::ignored);
    for (int i = 0; i < 1'000; ++i)
      BOOST_TEST(globs.matches("folder/file" + std::to_string(i)), glob);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
