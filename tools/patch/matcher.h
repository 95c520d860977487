#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie::patch {

/// The text without blanks (Unicode's White_Space) at both ends, or at its right end.
std::string_view trim(std::string_view text);
std::string_view trim_right(std::string_view text);

/// How leniently lines are compared, in the order of the attempts.
enum class Leniency { exact, right_blanks, outer_blanks, signs };
inline constexpr std::size_t kLeniencies = 4;

/// The line in the form that is compared.
std::string comparable(std::string_view line, Leniency leniency);

/// The lines of a file, with searches for sequences of lines. Lines end at CRLF, LF or a lone CR.
/// The content must outlive this. The first exact searches compare lines; once they have covered as
/// many as the file has, and for all other leniencies, each line is hashed once, so that a search
/// scans numbers.
class FileLines {
 public:
  explicit FileLines(std::string_view content);

  std::size_t size() const noexcept { return lines_.size(); }
  std::string_view text(std::size_t index) const { return lines_[index]; }
  /// Offset of the line's first byte; for size(), the end of the content.
  std::size_t begin(std::size_t index) const;
  /// The first line's line end; LF if there is none.
  std::string_view line_end() const noexcept { return line_end_; }
  /// Whether the last line has an end.
  bool ended() const noexcept { return ended_; }

  /// Where the pattern begins: the first match at or after `from`, by the strictest leniency that
  /// has one.
  std::optional<std::size_t> find(const std::vector<std::string_view>& pattern, std::size_t from);
  /// The same, if the pattern ends the file.
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
  std::size_t compared_ = 0;  ///< lines covered by exact searches without hashes
  std::array<std::vector<std::uint64_t>, kLeniencies> hashes_;
};

}  // namespace sortie::patch
