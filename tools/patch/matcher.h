#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie::patch {

/// Without the blanks (Unicode's White_Space) at both ends, or at the right one.
std::string_view trim(std::string_view text);
std::string_view trim_right(std::string_view text);

/// With typographic dashes, quotes and spaces as their ASCII relatives.
std::string fold_signs(std::string_view text);

/// How leniently lines are compared, in the order in which it is tried.
enum class Leniency { exact, right_blanks, outer_blanks, signs };
inline constexpr std::size_t kLeniencies = 4;

/// The line as it is compared.
std::string comparable(std::string_view line, Leniency leniency);

/// The lines of a file, and where others stand in them. Lines end at CRLF, LF or a lone CR. The
/// content must outlive this. The first searches look at the lines; when they have gone through as
/// many as the file has, and for every leniency but the first, a hash of each line is made once, so
/// that a search costs a scan over numbers.
class FileLines {
 public:
  explicit FileLines(std::string_view content);

  std::size_t size() const noexcept { return lines_.size(); }
  std::string_view text(std::size_t index) const { return lines_[index]; }
  /// Offset of the line's first byte; of the end of the content for size().
  std::size_t begin(std::size_t index) const;
  /// The end of the first line that has one, else LF.
  std::string_view line_end() const noexcept { return line_end_; }
  /// Whether the last line has an end.
  bool ended() const noexcept { return ended_; }

  /// Index of the first line of the pattern: the first place at or after `from` of the first
  /// leniency that has one.
  std::optional<std::size_t> find(const std::vector<std::string_view>& pattern, std::size_t from);
  /// Only where the pattern ends the file.
  std::optional<std::size_t> find_at_end(const std::vector<std::string_view>& pattern,
                                         std::size_t from) const;

 private:
  std::optional<std::size_t> find_exact(const std::vector<std::string_view>& pattern,
                                        std::size_t from);
  std::optional<std::size_t> find_by_hash(const std::vector<std::string_view>& pattern,
                                          std::size_t from, Leniency leniency);
  const std::vector<std::uint64_t>& hashes(Leniency leniency);

  std::string_view content_;
  std::vector<std::string_view> lines_;
  std::string_view line_end_ = "\n";
  bool ended_ = true;
  std::size_t looked_at_ = 0;  ///< lines, by exact searches without hashes
  std::array<std::vector<std::uint64_t>, kLeniencies> hashes_;
};

}  // namespace sortie::patch
