#include "core/secrets/encoded_search.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/secrets/coded_bytes.h"
#include "core/secrets/encodings.h"
#include "core/secrets/readings.h"

namespace sortie {
namespace {

/// Second bytes of numeric escapes and of nested encodings.
constexpr std::string_view kOpenEscapes = "xuU01234567\\%&=";
/// Escape characters, quotes and line breaks: bytes that may follow a needle's first character.
constexpr std::string_view kSigns = "\\%&=\"'`\n\r";

/// The halves of a shorter value may be on adjacent lines by chance.
constexpr std::size_t kShortestWrapped = 10;

/// What a backslash and each byte mean; nothing where they are no escape.
const std::array<std::optional<char>, 256>& backslash_meanings() {
  // Kept, because a search asks for each of its needles.
  static const auto meanings = [] {
    std::array<std::optional<char>, 256> list{};
    for (unsigned byte = 0; byte < list.size(); ++byte) {
      const std::string escape = {'\\', static_cast<char>(byte)};
      const Readings found = TextReader(escape, true).readings(0);
      if (found.count > 0) list[byte] = found.list[0].bytes[0];
    }
    return list;
  }();
  return meanings;
}

}  // namespace

std::uint32_t CodedSearch::add(std::string_view needle, Gaps gaps) {
  const std::uint32_t index = automaton_.add(needle);
  if (index == gaps_.size())
    gaps_.push_back(gaps);
  else
    gaps_[index] = std::max(gaps_[index], gaps);
  has_blanks_ = has_blanks_ || needle.find(' ') != std::string_view::npos;
  expects_.resize(automaton_.states());
  if (gaps == Gaps::hex || gaps == Gaps::spaced_bytes) expect_gaps(needle, gaps);
  allow_raw_start(needle);
  allow_coded_start(needle[0]);
  return index;
}

void CodedSearch::expect_gaps(std::string_view needle, Gaps gaps) {
  std::uint32_t state = 0;
  for (std::size_t i = 0; i + 1 < needle.size(); ++i) {
    state = automaton_.child_of(state, needle[i]);
    if (gaps == Gaps::hex && i % 2 == 1) expects_[state] |= Expects::separators;
    if (gaps == Gaps::spaced_bytes && needle[i + 1] == ' ') expects_[state] |= Expects::blanks;
  }
}

void CodedSearch::build() {
  automaton_.build();
  // A state expects what its fallback expects.
  std::vector<std::uint32_t> by_depth(automaton_.states());
  for (std::uint32_t state = 0; state < by_depth.size(); ++state) by_depth[state] = state;
  std::stable_sort(by_depth.begin(), by_depth.end(), [&](std::uint32_t one, std::uint32_t other) {
    return automaton_.depth(one) < automaton_.depth(other);
  });
  for (const std::uint32_t state : by_depth)
    if (state != 0) expects_[state] |= expects_[automaton_.fallback(state)];
  filter_ = std::make_shared<LateStartFilter>();
}

/// What starts_ and thirds_ let begin, and more where a filter could not tell it apart.
std::vector<StartFilter::Start> CodedSearch::starts() const {
  const ByteSet any = ByteSet().set();
  std::vector<StartFilter::Start> list;
  std::array<ByteSet, 16> open_seconds{};  // by their upper half
  std::array<ByteSet, 16> their_firsts{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char first = static_cast<char>(byte);
    if (begins_coded(first)) {
      list.push_back({ByteSet().set(byte), any, any});
      continue;
    }
    for (unsigned next = 0; next < 256; ++next) {
      const char second = static_cast<char>(next);
      if (!starts_[pair_of(first, second)]) continue;
      if (open_starts_[pair_of(first, second)]) {
        open_seconds[next >> 4].set(next);
        their_firsts[next >> 4].set(byte);
        continue;
      }
      ByteSet thirds;
      for (unsigned third = 0; third < 256; ++third)
        thirds[third] = thirds_[triple_of(first, second, static_cast<char>(third))];
      list.push_back({ByteSet().set(byte), ByteSet().set(next), thirds});
    }
  }
  for (std::size_t half = 0; half < open_seconds.size(); ++half)
    if (open_seconds[half].any()) list.push_back({their_firsts[half], open_seconds[half], any});
  return list;
}

/// Null if skipping does not pay.
const StartFilter* CodedSearch::filter_for(std::string_view text) const {
  const bool is_short = text.size() < LateStartFilter::kShortest;
  if (is_short || filter_ == nullptr || !StartFilter::is_fast()) return nullptr;
  return &filter_->made([this] { return starts(); });
}

void CodedSearch::allow_open(char first, char second) {
  starts_.set(pair_of(first, second));
  open_starts_.set(pair_of(first, second));
}

void CodedSearch::allow_raw_start(std::string_view needle) {
  const char c = needle[0];
  for (const char next : kSigns) allow_open(c, next);
  if (needle[1] == ' ')
    for (const char blank : {'\t', '+'}) allow_open(c, blank);
  if (begins_coded(c)) return allow_open(c, needle[1]);
  starts_.set(pair_of(c, needle[1]));
  thirds_.set(triple_of(c, needle[1], needle[2]));
  // Two characters may be followed by anything except another plain character.
  for (unsigned byte = 0; byte < 256; ++byte)
    if (const char third = static_cast<char>(byte); kind_of(third) != plain_byte)
      thirds_.set(triple_of(c, needle[1], third));
}

/// Allows each byte that can follow an escape character in an encoding of `c` (readings.h).
void CodedSearch::allow_coded_start(char c) {
  for (const char next : kOpenEscapes) allow_open('\\', next);
  const auto& meanings = backslash_meanings();
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char next = static_cast<char>(byte);
    if (meanings[byte] == c) allow_open('\\', next);
    const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    if (letter || next == '#' || begins_coded(next)) allow_open('&', next);
  }
  for (const char sign : {'%', '=', '&'})
    for (const char again : {'\\', '%', '&', '='}) allow_open(sign, again);
  allow_open('%', 'u');
  constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
  for (const char sign : {'%', '='})
    for (const char means : {c, '\\', '%', '&', '='})
      for (const std::size_t upper : {0u, 16u})
        allow_open(sign, kDigits[upper + (static_cast<unsigned char>(means) >> 4)]);
}

bool CodedSearch::finds_any(std::string_view text) const {
  Position position;
  std::vector<Hit> hits;
  scan(text, 0, true, position, hits);
  return !hits.empty();
}

std::size_t CodedSearch::begin_of_open(const Position& position, std::size_t allowed,
                                       std::size_t end) const {
  for (const Walk& walk : position.walks) {
    const std::size_t open = automaton_.depth(walk.state);
    if (open > allowed) {
      std::uint32_t first = walk.last;
      for (std::size_t i = 1; i < open; ++i) first = position.read[first].before;
      end = std::min(end, position.read[first].begin);
    }
    if (allowed == 0) end = std::min(end, walk.at);
  }
  return end;
}

void SecretNeedles::add(const std::string& name, std::string_view value) {
  using Gaps = CodedSearch::Gaps;
  const Codings codings = codings_of(value);
  const Gaps gaps = value.size() < kShortestWrapped ? Gaps::none : Gaps::wraps;
  look_for(value, gaps, name);
  for (const std::string& text : codings.characters) look_for(text, gaps, name);
  for (const std::string& text : codings.base64) look_for(text, Gaps::wraps, name);
  for (const std::string& text : codings.hex) look_for(text, Gaps::hex, name);
  look_for(codings.spaced, Gaps::spaced_bytes, name);
}

void SecretNeedles::look_for(std::string_view needle, CodedSearch::Gaps gaps,
                             const std::string& name) {
  const std::uint32_t index = search.add(needle, gaps);
  if (index == names.size()) names.push_back(name);
  longest = std::max(longest, needle.size());
}

}  // namespace sortie
