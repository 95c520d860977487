#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// Notices a text that goes round in circles: its last 2,000 characters are one passage of 20 to
/// 200 characters, over and over.
///
/// Looks at what is new every 500 characters, so that the cost of a long text is that of copying
/// it.
class RepetitionGuard {
 public:
  static constexpr std::size_t kWindow = 2000;  ///< characters (code points)
  static constexpr std::size_t kShortest = 20;
  static constexpr std::size_t kLongest = 200;

  /// Takes the next piece of the text, UTF-8, split anywhere.
  /// @return  whether it goes round in circles; true for ever after
  bool feed(std::string_view piece);
  /// What comes over and over; "" while nothing does.
  const std::string& passage() const noexcept { return passage_; }

 private:
  std::size_t take_ascii(std::string_view piece);
  void take(char32_t character);
  void look();

  static constexpr std::size_t kStep = 500;
  std::u32string last_;     ///< the last characters: the window, and what has not been looked at
  std::size_t unseen_ = 0;  ///< characters since the last look
  char32_t partial_ = 0;    ///< a character whose last bytes have not come
  int missing_ = 0;         ///< how many bytes these are
  std::string passage_;
};

}  // namespace sortie
