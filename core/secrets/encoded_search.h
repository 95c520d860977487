#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/needle_search.h"
#include "core/secrets/token_formats.h"

namespace sortie {

/// Finds many strings in a stream where each of their characters may stand as it is or coded
/// (readings.h), and where line wraps, with the marks of comments and quotes around them, and
/// doubled or closed and reopened quotes may stand between characters.
///
/// A walk through one automaton of all needles (NeedleSearch) reads the text as it stands. Where
/// the text may be read otherwise, another walk forks off and goes on behind; walks that come to
/// the same are one again, and those that are in no needle end. Of ordinary text most bytes are
/// passed over by a table of the pairs of bytes that a needle may begin with, coded or not.
class CodedSearch {
 public:
  /// What may stand between the characters of a needle, besides quotes and escapes.
  enum class Gaps {
    none,         ///< a short value: it would hit by chance
    wraps,        ///< line breaks, with an indent and marks behind them
    hex,          ///< also separators between bytes, and the offsets of a hex dump
    spaced_bytes  ///< characters parted by blanks, and the offsets of od -c
  };

  /// A reader of the text. Offsets count from the stream's beginning.
  struct Walk {
    std::size_t at = 0;              ///< what it reads next
    std::uint32_t state = 0;         ///< of the automaton
    std::uint32_t last = 0;          ///< the last character that it read, in `read`; 0 is none
    std::uint8_t skipped = 0;        ///< bytes since the last character of a needle
    std::uint8_t marks = 0;          ///< among them, of comments and quotes
    bool broken = false;             ///< among them, a line break
    bool escaped_break = false;      ///< one that is coded
    bool after_return = false;       ///< the line break was a "\r"
    bool after_blank = false;        ///< the last character was a blank
    std::size_t last_wrap = 0;       ///< behind the last line break that was passed over
    std::size_t last_dump_line = 0;  ///< likewise, of a dump
  };
  /// A character that a walk has read; walks that forked share what they read before.
  struct Read {
    std::size_t begin = 0;     ///< of what stands for it
    std::uint32_t before = 0;  ///< the character before it; 0 is none
  };
  /// Where a search stands; a new stream begins with a new one.
  struct Position {
    std::vector<Walk> walks{Walk{}};  ///< the first one reads the text as it stands
    std::vector<Read> read{Read{}};   ///< of each walk as many at least as are open
  };
  struct Hit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint32_t needle = 0;
  };

  /// @param needle  of 5 bytes or more
  /// @return its index; the same for the same needle
  std::uint32_t add(std::string_view needle, Gaps gaps);
  void build();

  /// Reads on as far as the text decides.
  /// @param text   of the stream from `base` on, from where the position needs it
  /// @param ended  nothing comes behind it
  void scan(std::string_view text, std::size_t base, bool ended, Position& position,
            std::vector<Hit>& hits) const;
  /// Whether a needle stands in the text.
  bool finds_any(std::string_view text) const;
  /// Where the first needle may have begun of which more than `allowed` characters were read.
  /// @return  `end` where there is none
  std::size_t begin_of_open(const Position& position, std::size_t allowed, std::size_t end) const;
  std::size_t length(std::uint32_t needle) const { return automaton_.length(needle); }
  bool empty() const noexcept { return automaton_.empty(); }

 private:
  friend class CodedScan;
  enum Expects : std::uint8_t { separators = 1, blanks = 2 };

  void expect_gaps(std::string_view needle, Gaps gaps);
  void allow_raw_start(std::string_view needle);
  void allow_coded_start(char c);

  NeedleSearch automaton_;
  std::vector<Gaps> gaps_;  ///< by needle
  /// By state of the automaton: what may stand behind it, of the needles that it is in.
  std::vector<std::uint8_t> expects_;
  bool has_blanks_ = false;  ///< a needle does
  /// The pairs of bytes that a needle may begin with: its first two characters, what may stand
  /// between them, and what coded forms of the first one begin with.
  std::bitset<65536> starts_;
  /// Likewise of three bytes, by triple_of(), where the first is a character as it stands.
  std::bitset<65536> thirds_;
};

/// What a Redactor looks for, ready to be searched with. Not changed once it is shared: many
/// threads may read it.
struct SecretNeedles {
  CodedSearch search;
  std::vector<std::string> names;  ///< by needle
  /// Shared with the needles that are made of these: expressions are not copied.
  std::vector<std::shared_ptr<const LineShape>> patterns;
  std::size_t longest = 0;  ///< bytes of the longest needle

  /// Takes in a value with its codings (encodings.h); build() has to follow.
  void add(const std::string& name, std::string_view value);
  void build() { search.build(); }
  bool empty() const noexcept { return longest == 0 && patterns.empty(); }

 private:
  void look_for(std::string_view needle, CodedSearch::Gaps gaps, const std::string& name);
};

}  // namespace sortie
