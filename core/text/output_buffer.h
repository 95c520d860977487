#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// The head and the tail of a text that arrives in parts, each at most half of the limit; the
/// middle is only counted. Memory is bounded by one and a half times the limit.
class HeadTail {
 public:
  explicit HeadTail(std::size_t limit) : half_(limit / 2) {}
  void feed(std::string_view text);

  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// A last line without newline counts.
  std::uint64_t total_lines() const noexcept;
  bool cut() const noexcept { return !fits(total_bytes_, 2 * half_); }
  /// Whether a text of that size is rendered in full under that limit.
  static bool fits(std::uint64_t bytes, std::size_t limit) { return bytes <= limit / 2 * 2; }
  /// Bytes that render() leaves out.
  std::uint64_t left_out_bytes() const;

  /// The whole text if it fits; else head and tail, cut at line ends if there are any, with
  /// "… 4821 lines (312 KiB) left out …" on a line between them.
  /// @param where  the file of the whole output, added as "; the whole output is in WHERE"; or ""
  std::string render(std::string_view where = {}) const;
  /// The same text with a smaller limit.
  HeadTail narrowed(std::size_t limit) const;

 private:
  std::string_view shown_head() const;
  std::string_view shown_tail() const;

  std::size_t half_;
  std::string head_;
  std::string tail_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t newlines_ = 0;
  bool ends_in_newline_ = true;
};

/// An output as the model and the transcript get it.
struct CollectedOutput {
  std::string shown;     ///< for the model
  std::string recorded;  ///< for the transcript: whole, or head and tail of a larger limit
  std::uint64_t total_bytes = 0;
  std::uint64_t total_lines = 0;
  std::uint64_t left_out_bytes = 0;  ///< bytes missing in `shown`
  std::string whole{};               ///< the file with the whole output if `shown` is cut; or ""
  bool recorded_cut = false;         ///< `recorded` is cut too
};

/// Collects an output of any length in bounded memory, for both of its readers.
class OutputBuffer {
 public:
  /// @param recorded_bytes  the limit for the transcript: events are copied on their way, so an
  ///                        output of 50 MB must not be kept in memory
  explicit OutputBuffer(std::size_t shown_bytes, std::size_t recorded_bytes = 2u << 20)
      : shown_(shown_bytes), recorded_(recorded_bytes) {}
  void feed(std::string_view text) {
    shown_.feed(text);
    recorded_.feed(text);
  }
  /// @param where  the file of the whole output, see HeadTail::render
  CollectedOutput finish(std::string_view where = {}) const { return collected(shown_, where); }
  /// @param shown_bytes  at most the buffer's own
  CollectedOutput finish(std::size_t shown_bytes, std::string_view where) const {
    return collected(shown_.narrowed(shown_bytes), where);
  }

 private:
  CollectedOutput collected(const HeadTail& shown, std::string_view where) const;

  HeadTail shown_;
  HeadTail recorded_;
};

/// "17 bytes", "312 KiB", "1.5 MiB".
std::string size_in_words(std::uint64_t bytes);

}  // namespace sortie
