#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace sortie {

/// A set of bytes.
using ByteSet = std::bitset<256>;

/// Skips the parts of a text in which no string of a search begins, 32 bytes at a time (AVX2).
///
/// What may begin is told by the first three bytes. They are looked up by their half bytes in tables
/// of 16 bits, one bit a group of beginnings; a place passes if a bit is left of all six (Langdale,
/// "Teddy", in Hyperscan). A group passes all combinations of the half bytes in it: more than was
/// added may pass, never less.
class StartFilter {
 public:
  /// Three bytes with which something begins, each one of a set.
  using Start = std::array<ByteSet, 3>;

  /// @param starts  a few dozen; they are merged into 16 groups
  explicit StartFilter(const std::vector<Start>& starts);
  /// Whether the processor can skip; if not, find() returns `from`.
  static bool is_fast();
  /// The last block that a search has looked at.
  struct Block {
    std::size_t begin = 0;
    std::uint32_t passing = 0;  ///< bit n: something may begin at begin + n
    bool looked_at = false;
  };
  /// A place from `from` on before which nothing begins. Something may begin there, or less than a
  /// block is left before `until`.
  /// @param until  at least `from`, at most text.size() - 2
  /// @param block  of the same text
  std::size_t find(std::string_view text, std::size_t from, std::size_t until, Block& block) const {
    if (block.looked_at && from >= block.begin && from - block.begin < kBlock) {
      const std::uint32_t left = block.passing >> (from - block.begin);
      if (left != 0)
        return std::min(until, from + static_cast<std::size_t>(std::countr_zero(left)));
      from = std::min(until, block.begin + kBlock);
    }
    return find_block(text, from, until, block);
  }

 private:
  static constexpr std::size_t kBlock = 32;

  std::size_t find_block(std::string_view text, std::size_t from, std::size_t until,
                         Block& block) const;

  /// The groups that pass, by half byte: 8 groups, the other 8. Twice, for both lanes.
  struct alignas(32) Table {
    std::array<std::uint8_t, 32> first{};
    std::array<std::uint8_t, 32> second{};
  };
  std::array<Table, 3> low_{};   ///< by place: of the lower four bits
  std::array<Table, 3> high_{};  ///< of the upper ones
};

/// A filter that is made when it is first asked for, by any thread: that takes as long as a search
/// of a megabyte, and most runs have no text of that size.
class LateStartFilter {
 public:
  /// Texts below this size are searched without a filter.
  static constexpr std::size_t kShortest = 16384;

  const StartFilter& made(const std::function<std::vector<StartFilter::Start>()>& starts) {
    std::call_once(once_, [&] { filter_ = std::make_unique<StartFilter>(starts()); });
    return *filter_;
  }

 private:
  std::once_flag once_;
  std::unique_ptr<StartFilter> filter_;
};

}  // namespace sortie
