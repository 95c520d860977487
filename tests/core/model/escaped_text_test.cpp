#include "core/model/escaped_text.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/json/json.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(escaped_texts)

// Escapes, pairs of them and characters of several bytes at every place that a part may end at.
BOOST_AUTO_TEST_CASE(a_text_of_any_length_reads_as_in_one_piece) {
  const std::string pieces[] = {
      "plain text ",     "x", R"(\n)", R"(\\)",        R"(\")", R"(\u00e4)",
      R"(\ud83d\ude00)", "ä", "😀",     R"(\\\\\\\\\\)"};
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::string escaped;
    const std::size_t size = random() % (200u << 10);
    while (escaped.size() < size) escaped += pieces[random() % std::size(pieces)];

    BOOST_REQUIRE(unescaped_text(escaped) == parse_json('"' + escaped + '"').text());
  }
}

BOOST_AUTO_TEST_CASE(a_run_of_escapes_without_end_reads_as_in_one_piece) {
  std::string escaped;
  while (escaped.size() < (300u << 10)) escaped += R"(\ud83d\ude00)";

  BOOST_TEST((unescaped_text(escaped) == parse_json('"' + escaped + '"').text()));
}

BOOST_AUTO_TEST_CASE(what_is_no_text_is_refused_wherever_it_stands) {
  for (const std::size_t before : {0u, 10u, 65530u, 65536u, 100000u}) {
    for (const char* bad : {R"(\ud83d)", R"(\x)", "\x01", "\xff", "\"", R"(\)"}) {
      BOOST_TEST_CONTEXT(before << " bytes before " << bad) {
        BOOST_CHECK_THROW(unescaped_text(std::string(before, 'a') + bad), JsonError);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_escaped_reads_as_it_was) {
  const std::string text = "a \"quoted\"\n\\ line of 😀 and \x01";

  BOOST_TEST(unescaped_text(escaped_text(text)) == text);
  BOOST_TEST(unescaped_text("") == "");
}

BOOST_AUTO_TEST_SUITE_END()
