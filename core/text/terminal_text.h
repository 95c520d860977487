#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// Turns what a program wrote to a terminal into plain text, in a stream: control sequences
/// (ECMA-48: CSI, OSC, DCS, two-byte escapes) are taken out, a backspace takes a character back,
/// a carriage return begins its line anew, so that of a progress bar the last state is left; bytes
/// that are not UTF-8 become U+FFFD. Tab and newline stay, other control characters go.
class TerminalText {
 public:
  /// Whole lines as far as they have come; also the beginning of one longer than 64 KiB.
  std::string feed(std::string_view bytes);
  /// The beginning of a line that has not ended, a prompt, for whoever waits: it is not said again.
  /// A character or a sequence that is not whole yet stays, as more may be on its way; where
  /// nothing has come since the pause before, it is taken as it is, so that it can't hide what was
  /// written.
  std::string pause();
  /// The line that has not ended.
  std::string finish();

 private:
  enum class State : std::uint8_t { text, escape, intermediate, csi, string, string_escape };

  void control(char byte);
  void in_sequence(char byte, std::string& out);
  void plain(std::string_view run, std::string& out);
  void flush_long_line(std::string& out);
  void give_up_sequence();

  std::string line_;
  bool returned_ = false;  ///< after a CR: the next character begins the line anew
  State state_ = State::text;
  std::size_t sequence_bytes_ = 0;
  std::string string_;   ///< what stands in an OSC, DCS, … that has not ended
  bool paused_ = false;  ///< nothing has come since the last pause
};

}  // namespace sortie
