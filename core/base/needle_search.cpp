#include "core/base/needle_search.h"

#include <algorithm>

namespace sortie {
namespace {

/// "\r\n" is one line break; more than that is no wrapped text, so nothing goes on behind it. It
/// also bounds what a stream has to hold back.
constexpr unsigned kMaxBreakBytes = 2;
/// Blanks behind a line break, as wrapped text has them inside YAML.
constexpr unsigned kMaxIndent = 64;

constexpr char kBlanks[] = {' ', '\t'};

constexpr bool is_break(unsigned char byte) { return byte == '\n' || byte == '\r'; }
constexpr bool is_blank(unsigned char byte) { return byte == ' ' || byte == '\t'; }

/// Counts a byte of a line break or of the indent behind it.
/// @return  false where nothing goes on behind it
constexpr bool pass(unsigned char byte, unsigned& passed) {
  if (is_break(byte)) return ++passed <= kMaxBreakBytes;
  passed = std::max(passed, kMaxBreakBytes) + 1;
  return passed <= kMaxBreakBytes + kMaxIndent;
}

}  // namespace

void NeedleSearch::clear() {
  states_.assign(1, State{});
  lengths_.clear();
  root_.fill(0);
  pairs_.reset();
}

std::uint32_t NeedleSearch::add(std::string_view needle) {
  std::uint32_t state = 0;
  for (const char c : needle) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t next = child(state, byte);
    if (next == kNone) {
      next = static_cast<std::uint32_t>(states_.size());
      states_.push_back(
          {.depth = states_[state].depth + 1, .sibling = states_[state].child, .byte = byte});
      states_[state].child = next;
    }
    state = next;
  }
  if (states_[state].own == kNone) {
    states_[state].own = static_cast<std::uint32_t>(lengths_.size());
    lengths_.push_back(needle.size());
  }
  return states_[state].own;
}

void NeedleSearch::build() {
  root_.fill(0);
  for (std::uint32_t to = states_[0].child; to != 0; to = states_[to].sibling)
    root_[states_[to].byte] = to;
  std::size_t shortest = kLongestStride + 1;
  for (const std::size_t length : lengths_) shortest = std::min(shortest, length);
  stride_ = std::max<std::size_t>(shortest - 1, 1);
  pairs_.reset();
  if (breaks_ == LineBreaks::pass_over)
    for (unsigned byte = 0; byte < 256; ++byte)
      for (const char c : {'\n', '\r'}) {
        pairs_.set(pair(static_cast<char>(byte), c));
        pairs_.set(pair(c, static_cast<char>(byte)));
      }
  if (breaks_ == LineBreaks::pass_over)
    for (const char first : kBlanks)
      for (const char second : kBlanks) pairs_.set(pair(first, second));
  // Breadth first: a state's fallback is less deep, so it is complete when it is asked.
  std::vector<std::uint32_t> queue = {0};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t from = queue[i];
    for (std::uint32_t next = states_[from].child; next != 0; next = states_[next].sibling) {
      State& to = states_[next];
      to.fallback = from == 0 ? 0 : step(states_[from].fallback, to.byte);
      to.needle = to.own != kNone ? to.own : states_[to.fallback].needle;
      if (to.depth <= stride_) add_pairs(to);
      queue.push_back(next);
    }
  }
}

void NeedleSearch::add_pairs(const State& after) {
  const char byte = static_cast<char>(after.byte);
  const bool ends = after.needle != kNone;  // anything may follow
  for (unsigned next = 0; ends && next < 256; ++next)
    pairs_.set(pair(byte, static_cast<char>(next)));
  for (std::uint32_t to = after.child; to != 0; to = states_[to].sibling)
    pairs_.set(pair(byte, static_cast<char>(states_[to].byte)));
  // Behind an indent.
  if (breaks_ == LineBreaks::pass_over && after.depth > 1)
    for (const char blank : kBlanks) pairs_.set(pair(blank, byte));
}

std::uint32_t NeedleSearch::child(std::uint32_t state, unsigned char byte) const {
  for (std::uint32_t to = states_[state].child; to != 0; to = states_[to].sibling)
    if (states_[to].byte == byte) return to;
  return kNone;
}

std::uint32_t NeedleSearch::step(std::uint32_t state, unsigned char byte) const {
  while (state != 0) {
    const std::uint32_t next = child(state, byte);
    if (next != kNone) return next;
    state = states_[state].fallback;
  }
  return root_[byte];
}

void NeedleSearch::scan(std::string_view chunk, Position& position, std::vector<Hit>& hits) const {
  std::uint32_t state = position.state;
  unsigned breaks = position.breaks;
  const std::size_t size = chunk.size();
  for (std::size_t i = 0; i < size; ++i) {
    auto byte = static_cast<unsigned char>(chunk[i]);
    if (state == 0) {
      // A needle that begins in the next `stride_` bytes has this pair among its first ones.
      while (i + stride_ < size && !pairs_[pair(chunk[i + stride_ - 1], chunk[i + stride_])])
        i += stride_;
      byte = static_cast<unsigned char>(chunk[i]);
      state = root_[byte];
      breaks = 0;
    } else if (breaks_ == LineBreaks::pass_over &&
               (is_break(byte) || (breaks > 0 && is_blank(byte)))) {
      if (!pass(byte, breaks)) state = 0;
      continue;
    } else {
      state = step(state, byte);
      breaks = 0;
    }
    if (states_[state].needle != kNone) hits.push_back({i + 1, states_[state].needle});
  }
  position = {state, state == 0 ? 0 : breaks};
}

}  // namespace sortie
