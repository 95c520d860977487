#include "core/text/pattern.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(pattern)

BOOST_AUTO_TEST_CASE(a_word_glob_matches_the_whole_word) {
  const struct {
    const char* glob;
    const char* word;
    bool matches;
  } rows[] = {
      {"--config*", "--config", true},
      {"--config*", "--config=a/b", true},
      {"--config*", "x--config", false},
      {"*KEY*", "OPENAI_API_KEY", true},
      {"a?c", "abc", true},
      {"a?c", "a€c", true},
      {"a?c", "ac", false},
      {"a?c",
       "a\xff"
       "c",
       true},
      {"[a-c]x", "bx", true},
      {"[!a-c]x", "bx", false},
      {"[!a-c]x", "dx", true},
      {"[]]x", "]x", true},
      {"[z-a]", "[z-a]", true},
      {"[open", "[open", true},
      {"a\\*b", "a*b", true},
      {"a\\*b", "axb", false},
      {"a.b+c", "a.b+c", true},
      {"a.b", "axb", false},
      {"*", "", true},
      {"*", "two\nlines", true},
      {"", "", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.glob << " on " << row.word) {
      BOOST_TEST(Pattern::word_glob(row.glob).matches(row.word) == row.matches);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_path_glob_matches_the_path_and_what_is_below) {
  const struct {
    const char* glob;
    const char* path;
    bool matches;
  } rows[] = {
      {".git", ".git", true},
      {".git", ".git/config", true},
      {".git", ".gitignore", false},
      {".git", "sub/.git", false},
      {"./src/", "src/a.c", true},
      {"**/.env", ".env", true},
      {"**/.env", "a/b/.env", true},
      {"**/.env", "a/b.env", false},
      {"**/CODEOWNERS", "docs/CODEOWNERS", true},
      {"src/*.c", "src/a.c", true},
      {"src/*.c", "src/sub/a.c", false},
      {"src/**/*.c", "src/a.c", true},
      {"src/**/*.c", "src/x/y/a.c", true},
      {"src/**", "src/x/y", true},
      {"src/**", "src", false},
      {"a?b", "a/b", false},
      {"a[!x]b", "a/b", false},
      {"/etc/shadow", "/etc/shadow", true},
      {"/etc/shadow", "/etc/shadow-", false},
      {"**", "anything/at/all", true},
      {".env.!(example|dist)", ".env.local", true},
      {".env.!(example|dist)", ".env.example", false},
      {".env.!(example|dist)", ".env.example/x", false},
      {".env.!(example|dist)", ".env.examples", true},
      {".env.!(example|dist)", ".env.example.local", true},
      {".env.!(example|dist)", ".env.exampl", true},
      {".env.!(example|dist)", ".env.", true},
      {".env.!(example|dist)", ".env.d/x", true},
      {".env.!(a|ab|b)", ".env.ab", false},
      {".env.!(a|ab|b)", ".env.a", false},
      {".env.!(a|ab|b)", ".env.abc", true},
      {"a!(b", "a!(b", true},
      {"a!(b c)", "a!(b c)", true},
      {"/x/a!(b)", "/x/a!(b)", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.glob << " on " << row.path) {
      BOOST_TEST(Pattern::path_glob(row.glob).matches(row.path) == row.matches);
    }
  }
  BOOST_TEST(Pattern::path_glob(".git", LetterCase::ignored).matches(".GiT/hooks"));
  const auto others = Pattern::path_glob(".env.!(dist)", LetterCase::ignored);
  BOOST_TEST(!others.matches(".ENV.Dist"));
  BOOST_TEST(others.matches(".ENV.Local"));
}

BOOST_AUTO_TEST_CASE(an_expression_is_found_or_refused) {
  const Pattern ticket = Pattern::expression("ACME-[0-9]{3}");
  using Found = std::pair<std::size_t, std::size_t>;

  BOOST_TEST((ticket.find("x ACME-123 ACME-456") == Found(2, 8)));
  BOOST_TEST((ticket.find("x ACME-123 ACME-456", 3) == Found(11, 8)));
  BOOST_TEST(!ticket.find("ACME-12").has_value());
  BOOST_TEST(!ticket.matches("x ACME-123"));
  BOOST_CHECK_THROW(Pattern::expression("(a"), PatternError);
  BOOST_CHECK_THROW(Pattern::expression("(a)\\1"), PatternError);
}

BOOST_AUTO_TEST_CASE(a_glob_of_many_stars_needs_no_exponential_time) {
  std::string glob;
  for (int i = 0; i < 30; ++i) glob += "*a";
  const std::string word(5000, 'a');
  BOOST_TEST(Pattern::word_glob(glob).matches(word));
  BOOST_TEST(!Pattern::word_glob(glob + "b").matches(word));
}

// A pattern is compiled when a text holds what each match needs: whether it was compiled before must
// not matter.
BOOST_AUTO_TEST_CASE(a_pattern_answers_the_same_before_and_after_it_is_compiled) {
  const std::string long_text(20'000, 'x');
  const char* globs[] = {".git",      "**/.env", "*KEY*",  "src/**",   "a/*/c",
                         "[a-c]x",    "!(b|c)",  "**",     "*",        "\\*x",
                         "a?c",       "**/a/**", "/etc/*", "a\xe9",    "caf\xc9",
                         "secret[s]", "x/**/y",  "",       "**/*.pem", "a/!(b|c)"};
  const char* texts[] = {".git",    ".GIT/config", "a/.env",  "OPENAI_API_KEY",
                         "api_key", "src/a/b",     "a/b/c",   "ax",
                         "b",       "d",           "*x",      "abc",
                         "b/a/c",   "/etc/passwd", "a\xc9",   "CAF\xe9",
                         "secrets", "x/y",         "x/z/w/y", "",
                         "k/b.PEM", "a/b",         "a/d"};
  for (const LetterCase letters : {LetterCase::exact, LetterCase::ignored})
    for (const char* glob : globs)
      for (const char* text : texts)
        for (const bool path : {false, true}) {
          const auto make = [&] {
            return path ? Pattern::path_glob(glob, letters) : Pattern::word_glob(glob, letters);
          };
          const Pattern fresh = make();
          const Pattern compiled = make();
          (void)compiled.matches(long_text);
          BOOST_TEST_CONTEXT(glob << " on " << text) {
            BOOST_TEST(fresh.matches(text) == compiled.matches(text));
            (void)compiled.find(text);
            BOOST_TEST(fresh.matches(text) == compiled.matches(text));
          }
        }
}

BOOST_AUTO_TEST_CASE(a_rare_expression_finds_what_the_same_expression_finds) {
  const char* expression = "(?i)\\b(?:token|secret)=([a-z]+)";
  const Pattern always = Pattern::line_expression(expression);
  for (const char* text : {"", "token=abc", "a SECRET=Abc b", "to\u212aen=abc", "\u017fecret=abc",
                           "nothing", "token", "x\ntoken=a\nsecret=b"}) {
    const Pattern rare = Pattern::rare_line_expression(expression, {"token", "secret"});
    const auto one = always.find_group(text, 0, 1);
    const auto other = rare.find_group(text, 0, 1);
    BOOST_TEST_CONTEXT(text) {
      BOOST_REQUIRE(one.has_value() == other.has_value());
      if (one) BOOST_TEST(one->group_begin == other->group_begin);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
