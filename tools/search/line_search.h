#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/text/pattern.h"

namespace sortie {

/// A matching line; offsets into the text, without the line end.
struct LineMatch {
  std::size_t number = 0;  ///< from 1
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t match_begin = 0;  ///< first match in the line
  std::size_t match_end = 0;
};

/// Finds the lines of a text that match an RE2 expression; no match extends past its line. Plain
/// text is found without RE2. Thread-safe. In a line of more than 96 KiB, a match of more than 32
/// KiB may be missed.
class LineSearch {
 public:
  /// @throws PatternError  with RE2's reason
  explicit LineSearch(const std::string& expression);

  /// Passes each matching line once, in order, until `take` returns false.
  /// @param go_on  called every 64 KiB, within long lines too; false ends the search
  /// @return  false if `go_on` ended it
  bool search(std::string_view text, const std::function<bool(const LineMatch&)>& take,
              const std::function<bool()>& go_on) const;

 private:
  struct Found {
    std::size_t begin;
    std::size_t end;
  };
  std::optional<Found> find(std::string_view text, std::size_t from,
                            const std::function<bool()>& go_on) const;
  /// Searches part by part: RE2 can't be interrupted, and is slow with complex expressions.
  std::optional<Found> find_in_windows(std::string_view text, std::size_t from,
                                       const std::function<bool()>& go_on) const;
  std::optional<Found> find_plain(std::string_view text, std::size_t from) const;

  std::string plain_{};     ///< the text of a plain expression, else ""
  std::size_t rarest_ = 0;  ///< index of the rarest byte in plain_
  std::optional<Pattern> pattern_{};
};

/// Writes the matching lines of one file with their context, like grep: "12:match", "13-context",
/// "--" between groups that are not adjacent.
class MatchText {
 public:
  /// @param text  the file's text; outlives this
  MatchText(std::string_view text, std::size_t context, std::string& out)
      : text_(text), context_(context), out_(out) {}
  void add(const LineMatch& match);
  /// Writes the context after the last match.
  void finish();

 private:
  void write_line(std::size_t number, char mark, const std::string& line);
  /// Writes pending context after the last match, up to `end`.
  void write_after(std::size_t end);
  void write_before(const LineMatch& match);

  std::string_view text_;
  std::size_t context_;
  std::string& out_;
  std::size_t at_ = 0;      ///< end of the last written line
  std::size_t number_ = 0;  ///< number of that line; 0: none yet
  std::size_t owed_ = 0;    ///< context lines still to write after the last match
};

}  // namespace sortie
