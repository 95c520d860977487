#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/secrets/coded_bytes.h"
#include "core/secrets/encoded_search.h"
#include "core/secrets/readings.h"

namespace sortie {

/// One call of CodedSearch::scan(): advances the walk that is furthest behind, until more of the
/// text is needed.
class CodedScan {
 public:
  using Walk = CodedSearch::Walk;

  CodedScan(const CodedSearch& search, std::string_view text, std::size_t base, bool ended,
            CodedSearch::Position& position, std::vector<CodedSearch::Hit>& hits)
      : search_(search),
        automaton_(search.automaton_),
        text_(text),
        base_(base),
        ended_(ended),
        walks_(position.walks),
        read_(position.read),
        hits_(hits),
        filter_(search.filter_for(text)),
        reader_(text, ended) {}
  void run();

 private:
  /// The most bytes between two characters of a needle: a wrap, its indent and marks.
  static constexpr unsigned kMostSkipped = 80;
  static constexpr unsigned kMostMarks = 6;
  using Expects = CodedSearch::Expects;
  /// The first place where a walk is, and how far it is the only one.
  struct Place {
    std::size_t at = 0;
    std::size_t next = 0;    ///< where the next walk is, or the text's end
    std::size_t walk = 0;    ///< index of the walk at the first place
    std::size_t others = 0;  ///< number of other walks there
  };

  char byte(std::size_t at) const { return text_[at - base_]; }
  std::size_t end() const { return base_ + text_.size(); }
  std::uint8_t expects(std::uint32_t state) const { return search_.expects_[state]; }

  Place first_place() const;
  // Other readings at offsets of the text.
  void read_plain(Walk& walk, std::size_t until);
  std::size_t next_start(std::size_t i, std::size_t until);
  bool may_be_coded(std::size_t i) const;
  bool begins_otherwise(std::size_t i);
  bool means_otherwise(std::size_t i, std::uint32_t state, std::size_t least);
  bool goes_on_otherwise(std::size_t i, std::uint32_t state, bool after_blank, std::size_t least);
  bool follows_separator(std::size_t i, std::uint32_t state) const;
  bool goes_on_behind(std::size_t i, std::uint32_t state) const;
  const Readings& readings_at(std::size_t i);

  // One step of a walk.
  bool advance_all(std::size_t at);
  void advance(Walk& walk, const Readings& found);
  void take(Walk& walk, char c, std::size_t begin, std::size_t behind);
  void remember(Walk& walk, std::size_t at, std::uint32_t state);
  void report(const Walk& walk);
  bool is_over(const Walk& walk) const;
  void keep_one_of_each(std::size_t at);
  std::size_t open_since(const Walk& walk) const;
  void forget_read();

  // Walks that fork off.
  void fork(const Walk& walk, const Readings& found);
  bool is_dead_end(const Walk& fork);
  void fork_coded(const Walk& walk, const Readings& found);
  void fork_reading(const Walk& walk, const Reading& reading);
  bool fork_skip(const Walk& walk, std::size_t behind, std::uint8_t kind);
  void fork_line_break(const Walk& walk, std::size_t behind);
  void fork_escaped_break(const Walk& walk, std::size_t behind, bool newline);
  void fork_blank(const Walk& walk);
  void fork_dump(const Walk& walk);
  bool may_end_dump_line(const Walk& walk) const;
  bool lacks_line_end(const Walk& walk) const;
  bool lacks_dump_line(const Walk& walk) const;

  const CodedSearch& search_;
  const NeedleSearch& automaton_;
  std::string_view text_;
  std::size_t base_;
  bool ended_;
  std::vector<Walk>& walks_;
  std::vector<CodedSearch::Read>& read_;
  std::vector<CodedSearch::Hit>& hits_;
  std::vector<Walk> forks_{};
  Readings readings_{};
  std::size_t readings_of_ = std::string_view::npos;  ///< the offset of readings_
  std::size_t most_read_ = 4096;                      ///< size of read_ at which it is pruned
  const StartFilter* filter_;                         ///< null: the text is searched without
  StartFilter::Block block_{};
  TextReader reader_;
};

}  // namespace sortie
