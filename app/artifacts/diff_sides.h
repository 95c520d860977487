#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/workspace/diff/diff_text.h"

namespace sortie {

/// Takes the first line, without its newline.
std::string_view take_diff_line(std::string_view& text);

/// The two texts that a file's part of a diff tells of.
enum class Side { before, after };

/// A line of a hunk.
struct HunkLine {
  char sign = ' ';  ///< one of " +-"
  std::string_view content;
  long old_number = 0;  ///< in the file before; for an added line, that of the line behind
  long new_number = 0;

  bool is_on(Side side) const { return sign == ' ' || sign == (side == Side::before ? '-' : '+'); }
  bool is_changed() const { return sign != ' '; }
  long number_on(Side side) const { return side == Side::before ? old_number : new_number; }
};

/// Follows the hunks of a diff, line by line.
class HunkLines {
 public:
  bool inside() const { return old_count_ > 0 || new_count_ > 0; }
  /// Outside of hunks: whether the line begins one.
  bool begin(std::string_view line);
  /// Inside of a hunk: nothing for "\\ No newline at end of file".
  std::optional<HunkLine> take(std::string_view text);
  void end() { old_count_ = new_count_ = 0; }

 private:
  long old_line_ = 0;
  long old_count_ = 0;
  long new_line_ = 0;
  long new_count_ = 0;
};

/// The lines of one side of a file's part of a diff. They are read again where they are needed: a
/// record of each would take more memory than a diff of short lines itself.
class SideLines {
 public:
  /// @param read_on  called every now and then; outlives the object
  SideLines(std::string_view part, Side side, const ReadOn& read_on)
      : rest_(part), noted_(part.size()), side_(side), read_on_(read_on) {}

  /// The next line; nothing at the end.
  std::optional<HunkLine> next();
  /// The lines from here on as text, each with a newline.
  std::string text() const;

 private:
  void note();

  std::string_view rest_;
  std::size_t noted_;  ///< how much was left when `read_on_` was called
  Side side_;
  const ReadOn& read_on_;
  HunkLines hunks_;
};

/// Finds the lines of offsets in the text of a side. The offsets must not decrease.
class LinesByOffset {
 public:
  LinesByOffset(std::string_view part, Side side, const ReadOn& read_on)
      : lines_(part, side, read_on), side_(side) {}

  struct Line {
    long number = 0;
    bool changed = false;
  };
  Line at(std::size_t offset);

 private:
  SideLines lines_;
  Side side_;
  std::size_t end_ = 0;
  Line line_;
};

}  // namespace sortie
