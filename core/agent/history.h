#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/item.h"

namespace sortie {

/// The conversation so far. Items are only ever added at the end, so that requests share their
/// prefix byte for byte.
class History {
 public:
  void add(Item item);
  const std::vector<Item>& items() const noexcept { return items_; }
  /// Compaction begins a new one.
  int epoch() const noexcept { return 0; }

  /// Tokens of a request with these items and `fixed_bytes` of instructions and tools: bytes / 4,
  /// corrected by the ratio of measured to estimated tokens of the last response.
  std::int64_t estimated_tokens(std::size_t fixed_bytes = 0) const noexcept;
  /// The provider counted `input_tokens` for the request that was estimated at `estimate`.
  void measured(std::int64_t input_tokens, std::int64_t estimate) noexcept;

 private:
  std::vector<Item> items_;
  std::size_t bytes_ = 0;
  double ratio_ = 1.0;
};

}  // namespace sortie
