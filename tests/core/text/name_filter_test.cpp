// What a NameFilter rules out, an expression for the same globs doesn't match either.
#include "core/text/name_filter.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/text/glob.h"
#include "core/text/pattern.h"

namespace sortie::test {
namespace {

/// A text of parts drawn at random.
std::string drawn(std::mt19937& random, const std::vector<std::string>& parts, unsigned most) {
  std::string text;
  for (auto left = random() % (most + 1); left > 0; --left) text += parts[random() % parts.size()];
  return text;
}

/// What Pattern::path_globs() strips.
std::string stripped(std::string glob) {
  while (glob.starts_with("./")) glob.erase(0, 2);
  while (glob.size() > 1 && glob.back() == '/') glob.pop_back();
  return glob;
}

BOOST_AUTO_TEST_SUITE(name_filters)

BOOST_AUTO_TEST_CASE(the_names_that_a_policy_hides_may_match_and_ordinary_ones_not) {
  const NameFilter filter({"**/.env", "**/*.pem", "**/id_rsa", "build", "a/[xy]"});
  for (const char* path : {".env", "a/b/.env", "A/X.PEM", "x.pem/below", "id_rsa", "ID_RSA",
                           "build/out.txt", "a/x", "/absolute/.env", "a/y/z"})
    BOOST_TEST(filter.may_match(path), path);
  const NameFilter hidden({"**/.env", "**/*.pem", "**/id_rsa", "build"});
  for (const char* path : {"f007.txt", "d001/f007.txt", "src/main.cpp", "/absolute/a.o", "env",
                           "pem", "x.env", "rsa", "", "/", "builds"})
    BOOST_TEST(!hidden.may_match(path), path);
}

BOOST_AUTO_TEST_CASE(a_glob_of_what_is_below_a_folder_asks_for_the_folder) {
  const NameFilter filter({"**/.env.*/**", "a/secrets/**"});
  for (const char* path : {".env.d/x", "b/.ENV.local/y/z", "a/secrets/x", "a/secrets"})
    BOOST_TEST(filter.may_match(path), path);
  for (const char* path : {"x", "a/b/main.cpp", "secret/x"})
    BOOST_TEST(!filter.may_match(path), path);
}

BOOST_AUTO_TEST_CASE(a_glob_of_everything_rules_nothing_out) {
  for (const char* glob : {"**", "./**", "./**/", "././**", "./**/**", "*", "./*", "**/*"})
    for (const char* path : {"a.txt", "secrets/key", "a/b/c"})
      BOOST_TEST(NameFilter({glob}).may_match(path), glob << " of " << path);
  BOOST_TEST(NameFilter({"./secrets/**"}).may_match("secrets/key"));
  BOOST_TEST(!NameFilter({"./secrets/**"}).may_match("a/key"));
}

BOOST_AUTO_TEST_CASE(a_text_within_a_name_is_looked_for) {
  const NameFilter filter({"**/*.tfstate.*", "**/*[x]*"});
  BOOST_TEST(filter.may_match("main.cpp"));  // the second may match whatever there is
  const NameFilter plain({"**/*.tfstate.*", "**/?b*"});
  for (const char* path : {"a/x.tfstate.backup", "X.TFSTATE.1", "ab", "a/xBc"})
    BOOST_TEST(plain.may_match(path), path);
  for (const char* path : {"main.cpp", "x.tfstate", "tfstate.x", "aa"})
    BOOST_TEST(!plain.may_match(path), path);
}

BOOST_AUTO_TEST_CASE(of_more_globs_than_bits_none_is_forgotten) {
  std::vector<std::string> globs;
  for (int i = 0; i < 70; ++i) globs.push_back("**/*.k" + std::to_string(i) + ".*");
  const NameFilter filter(globs);
  for (int i = 0; i < 70; ++i) BOOST_TEST(filter.may_match("a/x.k" + std::to_string(i) + ".y"), i);
}

BOOST_AUTO_TEST_CASE(no_match_is_ruled_out) {
  const std::vector<std::string> glob_parts = {"a",  "b",  "B",  ".",    "/",  "*",      "**",
                                               "?",  "[",  "]",  "[ab]", "\\", "!(a|b)", "**/",
                                               "!(", "./", "-a", "(",    "|",  "a/",     "abcd"};
  const std::vector<std::string> path_parts = {"a", "b", "B", "A", ".", "/", "ab", "/a", "-",
                                               "[", "]", "(", "|", "!", "*", "?",  "\\", "abcd"};
  std::mt19937 random(1);
  int matched = 0;
  int ruled_out = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::vector<std::string> globs;
    std::string expression;
    for (auto left = random() % 3 + 1; left > 0; --left) {
      globs.push_back(drawn(random, glob_parts, 5));
      expression += (expression.empty() ? "" : "|") +
                    glob_expression(stripped(globs.back()), GlobSpan::folder).expression;
    }
    const NameFilter filter(globs);
    const Pattern all = Pattern::path_globs(globs, LetterCase::ignored);
    all.matches(std::string(20'000, '/'));  // it is compiled from now on
    const Pattern oracle =
        Pattern::expression("(?s:(?:" + expression + ")(?:/.*)?)", LetterCase::ignored);
    for (int i = 0; i < 60; ++i) {
      const std::string path = drawn(random, path_parts, 5);
      const bool matches = oracle.matches(path);
      const bool may_match = filter.may_match(path);
      matched += matches ? 1 : 0;
      ruled_out += may_match ? 0 : 1;
      if (matches && !may_match) BOOST_ERROR("'" << path << "' is ruled out for " << expression);
      if (matches != all.matches(path))
        BOOST_ERROR("'" << path << "' and the pattern of " << expression);
    }
  }
  BOOST_TEST(matched > 20'000);
  BOOST_TEST(ruled_out > 20'000);
}

BOOST_AUTO_TEST_CASE(more_globs_than_bits_share_them) {
  std::vector<std::string> globs;
  for (int i = 0; i < 200; ++i) globs.push_back("**/name-" + std::to_string(i));
  const NameFilter filter(globs);
  for (int i = 0; i < 200; ++i) BOOST_TEST(filter.may_match("x/name-" + std::to_string(i)));
  BOOST_TEST(!filter.may_match("x/other"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
