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

BOOST_AUTO_TEST_CASE(a_line_is_cut_between_words) {
  const struct {
    const char* text;
    std::size_t most;
    const char* line;
  } rows[] = {
      {"a key", 5, "a key"},
      {"the key sk-proj-0123456789 was refused", 20, "the key …"},
      {"the key sk-proj-0123456789 was refused", 26, "the key sk-proj-0123456789…"},
      {"0123456789", 4, "…"},
      {"\"sk-0123%2F+=/~.:_\", no", 10, "\"…"},
      {"größer\n\x1b[31m", 4, "grö…"},
      {"", 0, ""},
  };
  for (const auto& row : rows) BOOST_TEST(one_line_of_words(row.text, row.most) == row.line);
}

BOOST_AUTO_TEST_CASE(texts_are_joined_with_a_separator_between_each_two) {
  struct Named {
    std::string name;
  };
  const std::vector<std::string> words = {"", "a", "b"};
  BOOST_TEST(joined(words, ", ") == ", a, b");
  BOOST_TEST(joined(std::vector<std::string>(), ", ") == "");
  BOOST_TEST(joined(std::vector<Named>{{"x"}, {"y"}}, " and ", &Named::name) == "x and y");
}

BOOST_AUTO_TEST_CASE(blanks_around_a_text_go) {
  BOOST_TEST(trimmed(" \t\r\n a b\n") == "a b");
  BOOST_TEST(trimmed(" \n") == "");
  BOOST_TEST(without_blanks("\t a\n ") == "a\n");
}

BOOST_AUTO_TEST_SUITE_END()
