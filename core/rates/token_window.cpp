#include "core/rates/token_window.h"

#include <algorithm>
#include <numeric>

namespace sortie {

using std::chrono::nanoseconds;

void TokenWindow::set_length(nanoseconds length) {
  const nanoseconds wanted = length / kParts;
  if (part == wanted) return;
  *this = TokenWindow{.part = wanted};
}

void TokenWindow::advance(nanoseconds now) {
  const std::int64_t number = number_at(now);
  if (number <= newest) return;
  const std::int64_t gone = std::min<std::int64_t>(number - newest, tokens.size());
  for (std::int64_t i = 1; i <= gone; ++i) tokens[place_of(number - gone + i)] = 0;
  newest = number;
}

void TokenWindow::add(std::int64_t count, nanoseconds when) {
  const std::int64_t number = number_at(when);
  if (number > newest || newest - number > static_cast<std::int64_t>(kParts)) return;
  std::int64_t& there = tokens[place_of(number)];
  there = std::max<std::int64_t>(0, there + count);
}

nanoseconds TokenWindow::fits_at(std::int64_t more, std::int64_t limit, nanoseconds now) const {
  std::int64_t left = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
  const std::int64_t most = std::max<std::int64_t>(0, limit - more);
  if (left <= most) return now;
  for (std::int64_t number = newest - static_cast<std::int64_t>(kParts); number <= newest;
       ++number) {
    if (number >= 0) left -= tokens[place_of(number)];
    // It has left the time once that begins after it.
    if (left <= most) return part * (number + static_cast<std::int64_t>(tokens.size()));
  }
  return now;
}

}  // namespace sortie
