#include "core/secrets/needle_search.h"

#include <algorithm>

namespace sortie {

void NeedleSearch::clear() {
  states_.assign(1, State{});
  lengths_.clear();
  root_.fill(0);
  pairs_.reset();
  filter_.reset();
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
  filter_ = std::make_shared<LateStartFilter>();
}

/// The first three bytes of all needles.
std::vector<StartFilter::Start> NeedleSearch::starts() const {
  std::vector<StartFilter::Start> list;
  for (std::uint32_t first = states_[0].child; first != 0; first = states_[first].sibling) {
    StartFilter::Start start;
    start[0].set(states_[first].byte);
    if (states_[first].own != kNone) {  // anything may follow
      start[1].set();
      start[2].set();
      list.push_back(start);
      continue;
    }
    for (std::uint32_t second = states_[first].child; second != 0;
         second = states_[second].sibling) {
      start[1].reset().set(states_[second].byte);
      start[2].reset();
      if (states_[second].own != kNone) start[2].set();
      for (std::uint32_t third = states_[second].child; third != 0; third = states_[third].sibling)
        start[2].set(states_[third].byte);
      list.push_back(start);
    }
  }
  return list;
}

void NeedleSearch::add_pairs(const State& after) {
  const char byte = static_cast<char>(after.byte);
  const bool ends = after.needle != kNone;  // anything may follow
  for (unsigned next = 0; ends && next < 256; ++next)
    pairs_.set(pair(byte, static_cast<char>(next)));
  for (std::uint32_t to = after.child; to != 0; to = states_[to].sibling)
    pairs_.set(pair(byte, static_cast<char>(states_[to].byte)));
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
  const std::size_t size = chunk.size();
  const StartFilter* const filter =
      size >= LateStartFilter::kShortest && filter_ != nullptr && StartFilter::is_fast()
          ? &filter_->made([this] { return starts(); })
          : nullptr;
  StartFilter::Block block;
  for (std::size_t i = 0; i < size; ++i) {
    auto byte = static_cast<unsigned char>(chunk[i]);
    if (state == 0) {
      if (filter != nullptr && i + 2 < size) i = filter->find(chunk, i, size - 2, block);
      // A needle that begins in the next `stride_` bytes has this pair among its first ones.
      while (filter == nullptr && i + stride_ < size &&
             !pairs_[pair(chunk[i + stride_ - 1], chunk[i + stride_])])
        i += stride_;
      byte = static_cast<unsigned char>(chunk[i]);
      state = root_[byte];
    } else {
      state = step(state, byte);
    }
    if (states_[state].needle != kNone) hits.push_back({i + 1, states_[state].needle});
  }
  position.state = state;
}

}  // namespace sortie
