#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sortie {

/// How many tokens were taken in the time just past, in parts of that time.
///
/// A request can be a large share of a minute's tokens, so that pacing alone could let one too many
/// into some minute: this counts them. Parts are left out as a whole, once no part of them is in the
/// time any more, so the count is never too low.
struct TokenWindow {
  static constexpr std::size_t kParts = 64;
  /// One more: the time begins and ends inside of a part.
  using Parts = std::array<std::int64_t, kParts + 1>;

  std::chrono::nanoseconds part{0};  ///< how long each is; 0: nothing was ever taken
  std::int64_t newest = 0;           ///< the number of the newest part since the machine's start
  Parts tokens{};                    ///< by number modulo their count

  bool operator==(const TokenWindow&) const = default;

  /// Makes it one of so long a time; what was taken in another's parts is forgotten.
  void set_length(std::chrono::nanoseconds length);
  /// Forgets what was taken too long ago.
  void advance(std::chrono::nanoseconds now);
  /// Adds tokens that were taken at a time, or takes them back if `count` is negative. Those of a time
  /// that is over are not counted.
  void add(std::int64_t count, std::chrono::nanoseconds when);
  /// The earliest time, from `now` on, at which `more` tokens fit below a limit. More than the limit
  /// fit where no others are. advance() first.
  std::chrono::nanoseconds fits_at(std::int64_t more, std::int64_t limit,
                                   std::chrono::nanoseconds now) const;

 private:
  std::int64_t number_at(std::chrono::nanoseconds time) const { return time / part; }
  std::size_t place_of(std::int64_t number) const {
    return static_cast<std::size_t>(number) % tokens.size();
  }
};

}  // namespace sortie
