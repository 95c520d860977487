#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/secrets/redact.h"

namespace sortie {

/// How the lines on stderr look.
struct LogStyle {
  bool colors = false;
  bool verbose = false;     ///< outputs and scripts as a whole
  std::size_t columns = 0;  ///< of the terminal; 0: no terminal, where lines are not cut to a width
};

enum class Tint { plain, faint, good, caution, bad };

/// The text in a colour, if there are any.
std::string tinted(const LogStyle& style, Tint tint, std::string text);

/// The most bytes of a line that is not cut to a width.
inline constexpr std::size_t kMostOfLine = 2000;

/// One line of foreign text for people: redacted, without control characters, and cut.
std::string line_for_people(std::string_view text, const Redactor& redactor,
                            std::size_t max_bytes = kMostOfLine);

/// A line that begins with a mark, continues with a text that may be cut, and ends with a note in
/// parentheses: "[3] $ make test (exit 2, 1.3 s)".
struct LogEntry {
  std::string mark;
  std::string text;
  std::string note{};       ///< without the parentheses
  Tint tint = Tint::faint;  ///< of the note
  std::string why{};        ///< follows the note, or stands on lines of its own if it does not fit
};
std::vector<std::string> lines_of(const LogStyle& style, const LogEntry& entry);

/// The last lines of an output, each with a mark, and before them how many there are above.
/// @param output  any text of others; redacted here
std::vector<std::string> last_lines(const LogStyle& style, const std::string& output,
                                    std::size_t most, const Redactor& redactor);

/// A line of an output.
std::string output_line(const LogStyle& style, std::string_view line, const Redactor& redactor);

}  // namespace sortie
