#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// Turns a program's terminal output into plain text, as a stream: control sequences (ECMA-48: CSI,
/// OSC, DCS, two-byte escapes) are removed, a backspace removes a character, a carriage return
/// restarts the line, so that only the last state of a progress bar is left; bytes that are not
/// UTF-8 become U+FFFD. Tab and newline stay, other control characters are removed.
class TerminalText {
 public:
  /// The complete lines so far; also the beginning of one longer than 64 KiB.
  std::string feed(std::string_view bytes);
  /// The unfinished last line, such as a prompt; it is not returned again. An incomplete character
  /// or sequence is held back, as its rest may follow; if nothing has arrived since the last pause,
  /// it is returned as it is, so that it can't hide output.
  std::string pause();
  /// The rest: the unfinished last line.
  std::string finish();

 private:
  enum class State : std::uint8_t { text, escape, intermediate, csi, string, string_escape };

  void control(char byte);
  void in_sequence(char byte, std::string& out);
  void plain(std::string_view run, std::string& out);
  void flush_long_line(std::string& out);
  void give_up_sequence();

  std::string line_;
  bool returned_ = false;  ///< after a CR: the next character restarts the line
  State state_ = State::text;
  std::size_t sequence_bytes_ = 0;
  std::string string_;   ///< the text of an unterminated OSC, DCS, …
  bool paused_ = false;  ///< nothing has arrived since the last pause
};

}  // namespace sortie
