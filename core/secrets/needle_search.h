#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/start_filter.h"

namespace sortie {

/// Finds many strings in a stream in one pass (Aho and Corasick, "Efficient string matching",
/// CACM 18(6), 1975): linear in the stream's length, whatever the strings and the text are.
class NeedleSearch {
 public:
  /// The state of a search in its stream; each stream has its own.
  struct Position {
    std::uint32_t state = 0;
  };

  struct Hit {
    std::size_t end = 0;       ///< offset in the chunk, one past the last byte
    std::uint32_t needle = 0;  ///< index; the longest of those that end here
  };

  NeedleSearch() { clear(); }
  void clear();
  /// @param needle  not empty
  /// @return its index; the same for the same needle
  std::uint32_t add(std::string_view needle);
  /// Call it after the last add() and before scan().
  void build();

  /// Appends the hits of the chunk that follows `position`.
  void scan(std::string_view chunk, Position& position, std::vector<Hit>& hits) const;
  /// How many of the last bytes may begin a needle.
  std::size_t open_bytes(const Position& position) const { return states_[position.state].depth; }
  std::size_t length(std::uint32_t needle) const { return lengths_[needle]; }
  bool empty() const noexcept { return lengths_.empty(); }

  // For searches that read a text in more than one way: the automaton itself, from state 0 on.
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  /// The state after the byte, over fallbacks too.
  std::uint32_t next(std::uint32_t state, char c) const {
    return step(state, static_cast<unsigned char>(c));
  }
  std::uint32_t first(char c) const { return root_[static_cast<unsigned char>(c)]; }
  /// The state after the character, without fallbacks; kNone if no needle continues with it.
  std::uint32_t child_of(std::uint32_t state, char c) const {
    return child(state, static_cast<unsigned char>(c));
  }
  std::uint32_t fallback(std::uint32_t state) const { return states_[state].fallback; }
  std::size_t depth(std::uint32_t state) const { return states_[state].depth; }
  /// The longest that ends there, or kNone.
  std::uint32_t needle_at(std::uint32_t state) const { return states_[state].needle; }
  std::size_t states() const noexcept { return states_.size(); }

 private:
  static constexpr std::size_t kLongestStride = 4;
  /// A node of the tree of needles. Its children are a list, mostly of one: needles share little
  /// but their beginning.
  struct State {
    std::uint32_t depth = 0;
    std::uint32_t fallback = 0;    ///< the longest proper suffix that is a state too
    std::uint32_t own = kNone;     ///< the needle that this state completes
    std::uint32_t needle = kNone;  ///< `own`, else the longest needle that ends here
    std::uint32_t child = 0;       ///< the first one; 0: none
    std::uint32_t sibling = 0;     ///< the parent's next child; 0: none
    unsigned char byte = 0;        ///< the byte that leads here
  };

  static std::size_t pair(char first, char second) {
    return static_cast<std::size_t>(static_cast<unsigned char>(first) << 8 |
                                    static_cast<unsigned char>(second));
  }
  void add_pairs(const State& after);
  std::vector<StartFilter::Start> starts() const;
  std::uint32_t child(std::uint32_t state, unsigned char byte) const;
  std::uint32_t step(std::uint32_t state, unsigned char byte) const;

  std::vector<State> states_;
  std::array<std::uint32_t, 256> root_{};  ///< state 0's edges, default: to itself
  /// The pairs of bytes in the first `stride_` + 1 bytes of all needles: if none is at every
  /// `stride_`th byte, no needle begins (Wu and Manber, "A fast algorithm for multi-pattern
  /// searching", 1994).
  std::bitset<65536> pairs_;
  std::size_t stride_ = 1;
  std::vector<std::size_t> lengths_;
  std::shared_ptr<LateStartFilter> filter_;  ///< of these needles; shared by copies
};

}  // namespace sortie
