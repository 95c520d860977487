#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "core/catalog/item.h"

namespace sortie {

/// USD per million tokens.
struct ModelPrice {
  double input = 0;
  std::optional<double> cached_input;  ///< default: as input
  std::optional<double> cache_write;   ///< default: as input
  double output = 0;
  bool operator==(const ModelPrice&) const = default;
};

/// An amount of money in units of 10^-12 USD, so that any published price times any number of
/// tokens is a whole number, and sums do not drift. Saturates at nine million USD.
class Cost {
 public:
  constexpr Cost() = default;
  static Cost usd(double amount) noexcept;
  static Cost micros(std::int64_t amount) noexcept;  ///< millionths of a USD

  Cost& operator+=(Cost other) noexcept;
  friend Cost operator+(Cost a, Cost b) noexcept { return a += b; }
  /// Never negative.
  friend Cost operator-(Cost a, Cost b) noexcept {
    return Cost(a.units_ > b.units_ ? a.units_ - b.units_ : 0);
  }
  auto operator<=>(const Cost&) const = default;

  /// In USD, as a JSON number writes it: exact.
  std::string exact() const;
  /// Millionths of a USD, rounded up.
  std::int64_t to_micros() const noexcept;
  /// "4.97", "0.0123": at least two decimals, more for less than one USD; rounded up.
  std::string text() const;

 private:
  friend Cost tokens_at(std::int64_t tokens, double usd_per_million) noexcept;
  explicit constexpr Cost(std::int64_t units) : units_(units) {}

  std::int64_t units_ = 0;
};

Cost tokens_at(std::int64_t tokens, double usd_per_million) noexcept;

/// The cost of a response: uncached, cached and newly cached input each at its price, and output
/// including reasoning.
Cost cost_of(const Usage& usage, const ModelPrice& price) noexcept;

/// The maximum cost of a request: nothing cached, all of the output used.
Cost most_for(std::int64_t input_tokens, std::int64_t max_output_tokens,
              const ModelPrice& price) noexcept;

}  // namespace sortie
