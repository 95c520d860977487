#pragma once

#include <optional>

namespace sortie {

/// USD per million tokens.
struct ModelPrice {
  double input = 0;
  std::optional<double> cached_input;  ///< default: as input
  std::optional<double> cache_write;   ///< default: as input
  double output = 0;
  bool operator==(const ModelPrice&) const = default;
};

}  // namespace sortie
