#include "core/text/code_point.h"

#include <algorithm>

namespace sortie {

bool is_in(char32_t code, std::span<const CodePointRange> ranges) noexcept {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code,
                       [](char32_t one, const CodePointRange& range) { return one < range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

}  // namespace sortie
