#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// Lines of a text that others take the place of. Lines count from 0; one of the counts may be 0.
struct ChangedLines {
  std::uint32_t old_line = 0;
  std::uint32_t old_count = 0;
  std::uint32_t new_line = 0;
  std::uint32_t new_count = 0;
  bool operator==(const ChangedLines&) const = default;
};

/// Changes in order, packed: as many as every second line of a large file take three bytes each.
class PackedChanges {
 public:
  /// Behind the last one; between them are as many lines on both sides.
  void add(const ChangedLines& change);

  class Reader {
   public:
    explicit Reader(const PackedChanges& changes) : bytes_(changes.bytes_) {}
    std::optional<ChangedLines> next();

   private:
    std::uint32_t take_number();

    std::string_view bytes_;  ///< what is left
    ChangedLines last_;
  };

 private:
  void put(std::uint32_t number);

  std::string bytes_;
  ChangedLines last_;
};

/// What differs between two texts, in order.
///
/// libgit2 compares up to `most_lines` lines of both sides at once; it needs some 65 bytes for each.
/// Longer texts are cut at lines that both have exactly once, as in a patience diff: of very many
/// lines, a sample that depends on their content alone. Where there is no such line, libgit2 gets up
/// to five times as many, and what has nothing in common is one change.
PackedChanges changed_lines(std::string_view before, std::string_view after,
                            std::size_t most_lines);

std::size_t count_text_lines(std::string_view text);

/// Takes the first line, with its newline if it has one.
std::string_view take_text_line(std::string_view& text);

}  // namespace sortie
