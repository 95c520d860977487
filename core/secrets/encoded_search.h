#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/needle_search.h"
#include "core/secrets/start_filter.h"
#include "core/secrets/token_formats.h"

namespace sortie {

/// Finds many strings in a stream, where each character may be plain or encoded (readings.h), and
/// where line wraps (with quotes and comment marks) and doubled or reopened quotes may be between
/// characters.
///
/// A walk through one automaton of all needles (NeedleSearch) reads the text as it is. Where the
/// text has another reading, a second walk forks off; walks that reach the same state are merged,
/// and those that are in no needle end. In ordinary text most bytes are skipped by a table of the
/// pairs of bytes that a needle may begin with, encoded or not.
class CodedSearch {
 public:
  /// What is allowed between the characters of a needle, besides quotes and escapes.
  enum class Gaps {
    none,         ///< a short value: it would match by chance
    wraps,        ///< line breaks, followed by an indent and marks
    hex,          ///< also separators between bytes, and the offsets of a hex dump
    spaced_bytes  ///< characters separated by blanks, and the offsets of od -c
  };

  /// A reader of the text. Offsets count from the stream's beginning.
  struct Walk {
    std::size_t at = 0;              ///< offset of the next byte
    std::uint32_t state = 0;         ///< of the automaton
    std::uint32_t last = 0;          ///< the last character that it read, in `read`; 0: none
    std::uint8_t skipped = 0;        ///< bytes since the last character of a needle
    std::uint8_t marks = 0;          ///< comment marks and quotes among them
    bool broken = false;             ///< a line break is among them
    bool escaped_break = false;      ///< an escaped line break is among them
    bool after_return = false;       ///< the line break was a "\r"
    bool after_blank = false;        ///< the last character was a blank
    std::size_t last_wrap = 0;       ///< offset after the last line break that was skipped
    std::size_t last_dump_line = 0;  ///< the same for a dump's line
  };
  /// A character that a walk has read; walks that forked share what they read before.
  struct Read {
    std::size_t begin = 0;     ///< offset of its plain or encoded form
    std::uint32_t before = 0;  ///< the character before it; 0: none
  };
  /// The state of a search; each stream has its own.
  struct Position {
    std::vector<Walk> walks{Walk{}};  ///< the first one reads the text as it stands
    std::vector<Read> read{Read{}};   ///< at least the open characters of each walk
  };
  struct Hit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint32_t needle = 0;
  };

  /// @param needle  at least 5 bytes
  /// @return its index; the same for the same needle
  std::uint32_t add(std::string_view needle, Gaps gaps);
  void build();

  /// Continues as far as the text is unambiguous.
  /// @param text   the stream from offset `base` on, at least from where the position needs it
  /// @param ended  the text is the stream's end
  void scan(std::string_view text, std::size_t base, bool ended, Position& position,
            std::vector<Hit>& hits) const;
  /// Whether the text contains a needle.
  bool finds_any(std::string_view text) const;
  /// Where the first open needle begins of which more than `allowed` characters were read.
  /// @return  `end` if there is none
  std::size_t begin_of_open(const Position& position, std::size_t allowed, std::size_t end) const;
  std::size_t length(std::uint32_t needle) const { return automaton_.length(needle); }
  bool empty() const noexcept { return automaton_.empty(); }

 private:
  friend class CodedScan;
  enum Expects : std::uint8_t { separators = 1, blanks = 2 };

  void expect_gaps(std::string_view needle, Gaps gaps);
  void allow_raw_start(std::string_view needle);
  void allow_coded_start(char c);
  void allow_open(char first, char second);
  std::vector<StartFilter::Start> starts() const;
  const StartFilter* filter_for(std::string_view text) const;

  NeedleSearch automaton_;
  std::vector<Gaps> gaps_;  ///< by needle
  /// By state of the automaton: which gaps its needles allow there.
  std::vector<std::uint8_t> expects_;
  bool has_blanks_ = false;  ///< some needle has
  /// The pairs of bytes that a needle may begin with: its first two characters, the gaps between
  /// them, and the first bytes of encodings of the first one.
  std::bitset<65536> starts_;
  /// Those of them that anything may follow.
  std::bitset<65536> open_starts_;
  /// Of the others, the three bytes that a needle may begin with, by triple_of().
  std::bitset<65536> thirds_;
  std::shared_ptr<LateStartFilter> filter_;  ///< of these needles; shared by copies
};

/// The compiled secrets of a Redactor. Immutable once it is shared: many threads may read it.
struct SecretNeedles {
  CodedSearch search;
  std::vector<std::string> names;  ///< by needle
  /// Shared with the needles that are made of these: expressions are not copied.
  std::vector<std::shared_ptr<const LineShape>> patterns;
  std::size_t longest = 0;  ///< bytes of the longest needle

  /// Adds a value with its encodings (encodings.h); call build() afterwards.
  void add(const std::string& name, std::string_view value);
  void build() { search.build(); }
  bool empty() const noexcept { return longest == 0 && patterns.empty(); }

 private:
  void look_for(std::string_view needle, CodedSearch::Gaps gaps, const std::string& name);
};

}  // namespace sortie
