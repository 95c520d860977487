#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// Tells fenced code blocks from the rest of a Markdown text.
class FencedCode {
 public:
  /// Reads up to the next change between code and prose, or the end of the piece.
  /// @return  the number of bytes read; is_code() says which they are
  std::size_t read(std::string_view piece);
  bool is_code() const noexcept { return read_code_; }

 private:
  void end_line();

  std::string begin_;  ///< the line so far, while it may be a fence
  bool may_be_fence_ = true;
  char open_ = 0;           ///< the character of the opening fence; 0 outside of blocks
  std::size_t length_ = 0;  ///< the length of that fence
  bool read_code_ = false;
};

/// Detects a text that repeats itself: its last 8,000 characters are one passage of 20 to 200
/// characters, over and over. Fenced code blocks (CommonMark §4.5) are skipped, since code and data
/// do repeat. Of 8,274 sources and texts below /usr/share one repeats so much, a generated table of
/// calls.
///
/// Checks every 500 characters, so that a long text costs no more than copying it.
class RepetitionGuard {
 public:
  static constexpr std::size_t kWindow = 8000;  ///< characters (code points)
  static constexpr std::size_t kShortest = 20;
  static constexpr std::size_t kLongest = 200;

  /// Takes the next piece of the text, UTF-8, split anywhere.
  /// @return  whether the text repeated itself at the last check
  bool feed(std::string_view piece);
  /// The repeated passage; "" if there was none at the last check.
  const std::string& passage() const noexcept { return passage_; }

 private:
  void feed_prose(std::string_view piece);
  std::size_t take_ascii(std::string_view piece);
  void take(char32_t character);
  void check();

  static constexpr std::size_t kStep = 500;
  static constexpr std::size_t kMostKept = 2 * kWindow;
  std::u32string last_;  ///< the last characters: the window, those before it, and unchecked ones
  std::size_t unseen_ = 0;  ///< characters since the last check
  char32_t partial_ = 0;    ///< a character whose last bytes have not arrived
  int missing_ = 0;         ///< the number of these bytes
  FencedCode code_;
  std::string passage_;
};

}  // namespace sortie
