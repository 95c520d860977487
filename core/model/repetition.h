#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// Follows which parts of a Markdown text stand inside fenced code blocks.
class FencedCode {
 public:
  /// Reads on up to where the next part is of the other kind, or the piece ends.
  /// @return  how many bytes of the piece are as is_code() says afterwards
  std::size_t read(std::string_view piece);
  /// Of what was read last.
  bool is_code() const noexcept { return read_code_; }

 private:
  void end_line();

  std::string begin_;  ///< of the line, as far as it may be a fence
  bool may_be_fence_ = true;
  char open_ = 0;           ///< the character of the fence that opened the block, or none
  std::size_t length_ = 0;  ///< of that fence
  bool read_code_ = false;
};

/// Notices a text that goes round in circles: its last 8,000 characters are one passage of 20 to
/// 200 characters, over and over. Fenced code blocks (CommonMark §4.5) are left out: code and data
/// do repeat. Of 8,274 sources and texts below /usr/share one has so much of one passage in a row,
/// a generated table of calls.
///
/// Looks at what is new every 500 characters, so that the cost of a long text is that of copying
/// it.
class RepetitionGuard {
 public:
  static constexpr std::size_t kWindow = 8000;  ///< characters (code points)
  static constexpr std::size_t kShortest = 20;
  static constexpr std::size_t kLongest = 200;

  /// Takes the next piece of the text, UTF-8, split anywhere.
  /// @return  whether it went round in circles at the last look
  bool feed(std::string_view piece);
  /// What comes over and over; "" where nothing did at the last look.
  const std::string& passage() const noexcept { return passage_; }

 private:
  void feed_prose(std::string_view piece);
  std::size_t take_ascii(std::string_view piece);
  void take(char32_t character);
  void look();

  static constexpr std::size_t kStep = 500;
  std::u32string last_;     ///< the last characters: the window, and what has not been looked at
  std::size_t unseen_ = 0;  ///< characters since the last look
  char32_t partial_ = 0;    ///< a character whose last bytes have not come
  int missing_ = 0;         ///< how many bytes these are
  FencedCode code_;
  std::string passage_;
};

}  // namespace sortie
