#include "core/text/text.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(each_bad_sequence_becomes_one_replacement_character) {
  const std::string bad = "\xEF\xBF\xBD";
  const struct {
    const char* name;
    std::string bytes;
    std::string expected;
  } rows[] = {
      {"plain", "aé€😀", "aé€😀"},
      {"lone byte",
       "a\xff"
       "b",
       "a" + bad + "b"},
      {"overlong", "\xc0\xaf", bad + bad},
      {"surrogate", "\xed\xa0\x80", bad + bad + bad},
      {"cut character is one", "\xf0\x9f\x98", bad},
      {"beyond the last", "\xf4\x90\x80\x80", bad + bad + bad + bad},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(repair_utf8(row.bytes) == row.expected);
      BOOST_TEST(is_utf8(row.bytes) == (row.bytes == row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(cutting_never_splits_a_character) {
  BOOST_TEST(utf8_prefix("aé€", 2) == "a");
  BOOST_TEST(utf8_prefix("aé€", 3) == "aé");
  BOOST_TEST(utf8_suffix("aé€", 4) == "€");
  BOOST_TEST(utf8_suffix("aé€", 5) == "é€");
  BOOST_TEST(utf8_prefix("abc", 9) == "abc");
}

BOOST_AUTO_TEST_CASE(the_nearest_name_is_found_or_none) {
  const std::vector<std::string> names = {"verify", "version", "prompt"};

  BOOST_TEST(nearest_name("verifi", names) == "verify");
  BOOST_TEST(nearest_name("promt", names) == "prompt");
  BOOST_TEST(nearest_name("banana", names) == "");
  BOOST_TEST(nearest_name("rnu", {"run", "doctor"}) == "run");
  BOOST_TEST(nearest_name("hgih", {"low", "high"}) == "high");
  BOOST_TEST(nearest_name("nmae", {"note", "name"}) == "name");
  BOOST_TEST(nearest_name("vrefiy", names) == "verify");
}

BOOST_AUTO_TEST_CASE(lines_are_split_without_an_empty_last_one) {
  using Lines = std::vector<std::string_view>;

  BOOST_TEST((split_lines("a\n\nb") == Lines{"a", "", "b"}));
  BOOST_TEST((split_lines("a\n") == Lines{"a"}));
  BOOST_TEST((split_lines("").empty()));
}

BOOST_AUTO_TEST_CASE(a_line_for_people_has_no_control_bytes) {
  BOOST_TEST(one_line("a\n\x1b[31mb") == "a  [31mb");
  BOOST_TEST(one_line("abcdef", 3) == "abc…");
  BOOST_TEST(one_line("a\xc2\x9b"
                      "31mb\xc2\xa0"
                      "c") ==
             "a 31mb\xc2\xa0"
             "c");
  BOOST_TEST(one_line("\xe2\x80\xae"
                      "evil\xe2\x81\xa6\xe2\x80\xa8x \xe2\x80\x93") == " evil  x \xe2\x80\x93");
  BOOST_TEST(one_line("a\xff"
                      "b") ==
             "a\xEF\xBF\xBD"
             "b");
}

BOOST_AUTO_TEST_SUITE_END()
