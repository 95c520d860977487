#pragma once

#include <optional>

namespace sortie {

/// USD per million tokens.
struct ModelPrice {
  double input = 0;
  std::optional<double> cached_input;  ///< as input where not given
  std::optional<double> cache_write;   ///< as input where not given
  double output = 0;
  bool operator==(const ModelPrice&) const = default;
};

}  // namespace sortie
