// The shortest text of a number, compared with the standard library's.
#include "core/json/number_text.h"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace sortie::test {
namespace {

std::string by_the_library(double value) {
  char text[40];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

BOOST_AUTO_TEST_SUITE(number_texts)

BOOST_AUTO_TEST_CASE(ordinary_numbers_are_as_the_library_writes_them) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             0.1,
                             0.5,
                             1.5,
                             100.0,
                             1000.0,
                             100000.0,
                             123456.0,
                             1e15,
                             1e16,
                             1e21,
                             1e22,
                             1e23,
                             0.001,
                             0.0001,
                             0.00001,
                             0.000123,
                             1.0 / 3,
                             2.0 / 3,
                             3.0e-5,
                             1234567890123456789.0,
                             9007199254740993.0,
                             1152921504606846976.0,
                             5e-324,
                             2.2250738585072014e-308,
                             Limits::max(),
                             Limits::lowest(),
                             Limits::epsilon(),
                             0.1 + 0.2,
                             12.34,
                             99999.99,
                             1e-7,
                             299792458.0})
    BOOST_TEST(number_text(value) == by_the_library(value));
}

BOOST_AUTO_TEST_CASE(so_are_numbers_drawn_at_random) {
  std::mt19937_64 random(1);
  int differ = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = random();
    // All exponents; and what costs and seconds look like.
    const double value =
        i % 2 == 0 ? std::bit_cast<double>(bits) : static_cast<double>(bits % 1'000'000'000) / 1e6;
    if (!std::isfinite(value)) continue;
    if (number_text(value) != by_the_library(value) && ++differ < 10)
      BOOST_ERROR(number_text(value) << " for " << by_the_library(value));
  }
  BOOST_TEST(differ == 0);
}

/// There the gap below is half as wide as the one above, and one more digit may come.
BOOST_AUTO_TEST_CASE(powers_of_two_read_as_they_were) {
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    const double value = std::ldexp(1.0, exponent);
    const std::string text = number_text(value);
    BOOST_TEST(std::strtod(text.c_str(), nullptr) == value, text);
    BOOST_TEST(text.size() <= by_the_library(value).size() + 1, text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
