#include "core/secrets/start_filter.h"

#include <algorithm>
#include <bit>
#include <limits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace sortie {
namespace {

constexpr std::size_t kGroups = 16;
/// More are merged without looking for the best partner.
constexpr std::size_t kMostWeighed = 48;

/// The half bytes of a set: bit n stands for n.
struct Halves {
  std::uint16_t low = 0;
  std::uint16_t high = 0;
};

Halves halves_of(const ByteSet& set) {
  Halves halves;
  for (unsigned byte = 0; byte < set.size(); ++byte) {
    if (!set[byte]) continue;
    halves.low = static_cast<std::uint16_t>(halves.low | 1u << (byte & 15));
    halves.high = static_cast<std::uint16_t>(halves.high | 1u << (byte >> 4));
  }
  return halves;
}

/// How often a byte with these halves comes in a text, in some measure: letters most often.
unsigned weight(const Halves& halves) {
  constexpr unsigned kLetters = 1u << 6 | 1u << 7;
  constexpr unsigned kOthers = 1u << 2 | 1u << 3;  // blanks, signs, digits
  const unsigned high = halves.high;
  const int rows =
      std::popcount(high) + 5 * std::popcount(high & kLetters) + 2 * std::popcount(high & kOthers);
  return static_cast<unsigned>(std::popcount(halves.low) * rows);
}

using Group = std::array<Halves, 3>;

Group merged(const Group& one, const Group& other) {
  Group both = one;
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i].low = static_cast<std::uint16_t>(both[i].low | other[i].low);
    both[i].high = static_cast<std::uint16_t>(both[i].high | other[i].high);
  }
  return both;
}

std::uint64_t weight(const Group& group) {
  std::uint64_t product = 1;
  for (const Halves& halves : group) product *= weight(halves);
  return product;
}

/// Merges the two groups that then let the least more pass.
void merge_nearest(std::vector<Group>& groups) {
  std::size_t left = 0;
  std::size_t right = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> weights;
  for (const Group& group : groups) weights.push_back(static_cast<std::int64_t>(weight(group)));
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t k = i + 1; k < groups.size(); ++k) {
      const auto together = static_cast<std::int64_t>(weight(merged(groups[i], groups[k])));
      const std::int64_t more = together - weights[i] - weights[k];
      if (more >= least) continue;
      least = more;
      left = i;
      right = k;
    }
  groups[left] = merged(groups[left], groups[right]);
  groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(right));
}

std::vector<Group> grouped(const std::vector<StartFilter::Start>& starts) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Group group = {halves_of(starts[i][0]), halves_of(starts[i][1]), halves_of(starts[i][2])};
    if (i < kMostWeighed)
      groups.push_back(group);
    else
      groups[i % kMostWeighed] = merged(groups[i % kMostWeighed], group);
  }
  while (groups.size() > kGroups) merge_nearest(groups);
  return groups;
}

}  // namespace

StartFilter::StartFilter(const std::vector<Start>& starts) {
  const std::vector<Group> groups = grouped(starts);
  for (std::size_t number = 0; number < groups.size(); ++number) {
    const auto bit = static_cast<std::uint8_t>(1u << (number % 8));
    for (std::size_t place = 0; place < groups[number].size(); ++place)
      for (std::size_t half = 0; half < 16; ++half) {
        const auto allow = [&](Table& table, std::uint16_t halves) {
          if ((halves >> half & 1u) == 0) return;
          auto& bits = number < 8 ? table.first : table.second;
          for (const std::size_t lane : {half, half + 16})
            bits[lane] = static_cast<std::uint8_t>(bits[lane] | bit);
        };
        allow(low_[place], groups[number][place].low);
        allow(high_[place], groups[number][place].high);
      }
  }
}

#ifdef __x86_64__

bool StartFilter::is_fast() { return __builtin_cpu_supports("avx2") != 0; }

__attribute__((target("avx2"))) std::size_t StartFilter::find_block(std::string_view text,
                                                                    std::size_t from,
                                                                    std::size_t until,
                                                                    Block& block) const {
  static_assert(kBlock == sizeof(__m256i));
  const __m256i lower = _mm256_set1_epi8(0x0F);
  const __m256i none = _mm256_setzero_si256();
  for (; until - from >= kBlock; from += kBlock) {
    __m256i first = _mm256_set1_epi8(-1);
    __m256i second = first;
    for (std::size_t place = 0; place < low_.size(); ++place) {
      const __m256i bytes =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + from + place));
      const __m256i low = _mm256_and_si256(bytes, lower);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), lower);
      const auto* const lows = reinterpret_cast<const __m256i*>(&low_[place]);
      const auto* const highs = reinterpret_cast<const __m256i*>(&high_[place]);
      first = _mm256_and_si256(first, _mm256_and_si256(_mm256_shuffle_epi8(lows[0], low),
                                                       _mm256_shuffle_epi8(highs[0], high)));
      second = _mm256_and_si256(second, _mm256_and_si256(_mm256_shuffle_epi8(lows[1], low),
                                                         _mm256_shuffle_epi8(highs[1], high)));
    }
    const __m256i passes_none = _mm256_cmpeq_epi8(_mm256_or_si256(first, second), none);
    const auto passing = ~static_cast<unsigned>(_mm256_movemask_epi8(passes_none));
    if (passing == 0) continue;
    block = {.begin = from, .passing = passing, .looked_at = true};
    return from + static_cast<unsigned>(std::countr_zero(passing));
  }
  return from;
}

#else

bool StartFilter::is_fast() { return false; }

std::size_t StartFilter::find_block(std::string_view, std::size_t from, std::size_t, Block&) const {
  return from;
}

#endif

}  // namespace sortie
