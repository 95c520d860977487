#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/inputs/options.h"

namespace sortie {

/// The stderr of a batch: lines that stay and, on a terminal, a table below them that is drawn again in
/// place. Never makes the caller wait for a slow reader, which misses lines and gets their number.
class BatchScreen {
 public:
  explicit BatchScreen(const OutputStyle& style);

  /// Whether there is a table: stderr is a terminal that can be drawn on.
  bool has_table() const noexcept { return table_; }
  /// Columns and lines of the terminal.
  std::size_t columns() const noexcept { return columns_; }
  std::size_t lines() const noexcept { return lines_; }
  void look_at_size();

  /// A line that stays; foreign text in it is made harmless.
  void say(const std::string& line);
  /// The table as it is now. Each row is cut to the width.
  void draw(const std::vector<std::string>& rows);
  /// When something was last shown.
  std::chrono::steady_clock::time_point last() const noexcept { return last_; }

  bool has_waiting() const noexcept { return !waiting_.empty(); }
  /// Writes what stderr takes now.
  void write_some();
  /// Removes the table, writes the last line and waits for the reader.
  void finish(const std::string& last);

 private:
  void put(std::string text);
  std::string erased();

  OutputStyle style_;
  bool table_;
  std::size_t columns_ = 80;
  std::size_t lines_ = 24;
  std::size_t drawn_ = 0;  ///< rows of the table that are on the terminal
  std::vector<std::string> rows_;
  std::string waiting_;
  std::size_t left_out_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace sortie
