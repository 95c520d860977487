#include "core/text/display_width.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(display_width)

BOOST_AUTO_TEST_CASE(columns_are_counted_as_a_terminal_does) {
  const struct {
    const char* text;
    std::size_t columns;
  } rows[] = {
      {"", 0},        {"make test", 9},
      {"naïve", 5},   {"nai\xCC\x88ve", 5},  // with a combining diaeresis
      {"日本", 4},    {"한글.txt", 8},
      {"🙂 ok", 5}, {"👍🏽", 2},
      {"…", 1},       {"\xE2\x80\x8Bzero", 4},
  };
  for (const auto& row : rows) BOOST_TEST(display_columns(row.text) == row.columns, row.text);
}

BOOST_AUTO_TEST_CASE(a_line_is_cut_to_its_columns_and_not_inside_a_character) {
  BOOST_TEST(cut_to_columns("make test", 9) == "make test");
  BOOST_TEST(cut_to_columns("make test", 8) == "make te…");
  BOOST_TEST(cut_to_columns("日本語", 5) == "日本…");
  BOOST_TEST(cut_to_columns("日本語", 4) == "日…");
  BOOST_TEST(cut_to_columns("x", 0) == "");
  for (std::size_t columns = 0; columns < 12; ++columns)
    BOOST_TEST(display_columns(cut_to_columns("日本 e\xCC\x81 🙂 text", columns)) <= columns);
}

BOOST_AUTO_TEST_CASE(a_text_is_wrapped_between_words) {
  using Lines = std::vector<std::string>;
  BOOST_TEST(wrapped("the quick brown fox", 10) == Lines({"the quick", "brown fox"}),
             boost::test_tools::per_element());
  BOOST_TEST(wrapped("incomprehensibilities", 10) == Lines({"incomprehe", "nsibilitie", "s"}),
             boost::test_tools::per_element());
  BOOST_TEST(wrapped("as it is", 0) == Lines({"as it is"}), boost::test_tools::per_element());
  BOOST_TEST(wrapped("", 10) == Lines({""}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(large_numbers_have_their_thousands_marked) {
  BOOST_TEST(with_thousands(0) == "0");
  BOOST_TEST(with_thousands(999) == "999");
  BOOST_TEST(with_thousands(1000) == "1,000");
  BOOST_TEST(with_thousands(-1234567) == "-1,234,567");
}

BOOST_AUTO_TEST_SUITE_END()
