#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/text/pattern.h"

namespace sortie {

/// A line in which the expression matches; offsets into the text, without the line's end.
struct LineMatch {
  std::size_t number = 0;  ///< from 1
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t match_begin = 0;  ///< of the first match in it
  std::size_t match_end = 0;
};

/// Finds the lines of a text in which an RE2 expression matches; no match goes beyond its line. An
/// expression of plain characters is looked for without RE2. May be used by several threads.
/// In a line of more than 96 KiB a match that is longer than 32 KiB may be missed.
class LineSearch {
 public:
  /// @throws PatternError  with RE2's reason
  explicit LineSearch(const std::string& expression);

  /// Hands out each line that matches once, in order, until `take` says false.
  /// @param go_on  asked every 64 KiB, of a long line too; false ends the search
  /// @return false where `go_on` ended it
  bool search(std::string_view text, const std::function<bool(const LineMatch&)>& take,
              const std::function<bool()>& go_on) const;

 private:
  struct Found {
    std::size_t begin;
    std::size_t end;
  };
  std::optional<Found> find(std::string_view text, std::size_t from,
                            const std::function<bool()>& go_on) const;
  /// In parts: of an expression that needs many states RE2 looks at each byte as many times, and
  /// can't be interrupted.
  std::optional<Found> find_in_windows(std::string_view text, std::size_t from,
                                       const std::function<bool()>& go_on) const;
  std::optional<Found> find_plain(std::string_view text, std::size_t from) const;

  std::string plain_{};     ///< "" where the expression is none
  std::size_t rarest_ = 0;  ///< in plain_
  std::optional<Pattern> pattern_{};
};

/// A line for the model: of a long one what stands around the match, UTF-8 repaired, control
/// characters but tabs as spaces.
std::string shown_line(std::string_view line, std::size_t match_begin, std::size_t match_end);

/// Writes the lines that match in one file, with the lines around them: "12:match", "13-context",
/// "--" between parts that do not touch.
class MatchText {
 public:
  /// @param text  of the file; outlives this
  MatchText(std::string_view text, std::size_t context, std::string& out)
      : text_(text), context_(context), out_(out) {}
  void add(const LineMatch& match);
  /// The lines behind the last match.
  void finish();

 private:
  void put(std::size_t number, char mark, const std::string& line);
  /// Lines from where the last one ended, up to `end` and at most `context_`.
  void put_behind(std::size_t end);
  void put_before(const LineMatch& match);

  std::string_view text_;
  std::size_t context_;
  std::string& out_;
  std::size_t at_ = 0;      ///< behind the last line that was put
  std::size_t number_ = 0;  ///< of that line; 0: none yet
  std::size_t owed_ = 0;    ///< lines of context behind the last match
};

}  // namespace sortie
