#include "core/text/words.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(words)

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

BOOST_AUTO_TEST_SUITE_END()
