#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/search/line_search.h"

namespace sortie {

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
