#include "core/json/number_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace sortie {
namespace {

/// As many digits as it takes: "1.25e-01".
std::string scientific(double value) {
  constexpr int kEnough = std::numeric_limits<double>::max_digits10 - 1;
  char text[40];
  for (int digits = 0;; ++digits) {
    std::snprintf(text, sizeof text, "%.*e", digits, value);
    if (digits == kEnough || std::strtod(text, nullptr) == value) return text;
  }
}

}  // namespace

std::string number_text(double value) {
  std::string with_exponent = scientific(value);
  const std::size_t mark = with_exponent.find('e');
  const std::size_t point = with_exponent.find('.');
  const int digits = point == std::string::npos ? 0 : static_cast<int>(mark - point) - 1;
  const int exponent = std::atoi(with_exponent.c_str() + mark + 1);
  // Longer ones are not printed.
  char fixed[64];
  const int size =
      std::snprintf(fixed, sizeof fixed, "%.*f", std::max(digits - exponent, 0), value);
  if (static_cast<std::size_t>(size) > with_exponent.size()) return with_exponent;
  return fixed;
}

}  // namespace sortie
