#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// The hunks of one text file's patch.
struct TextHunks {
  std::string text;  ///< "" for equal sides
  int added = 0;     ///< lines
  int removed = 0;
};

/// Whether git takes content for binary: a NUL in its first 8,000 bytes (git, xdiff-interface.c).
bool is_binary_content(std::string_view content);

/// The hunks between two texts, written by libgit2 line by line. Two kinds are written here, since
/// libgit2 needs some 65 bytes a line: new and deleted files, and changes that spread over more than
/// `most_lines` lines of both sides. Those become one hunk, from the first to the last changed line.
TextHunks make_hunks(std::string_view before, std::string_view after, int context_lines,
                     std::size_t most_lines = 1'000'000);

/// Applies hunks to exactly the lines that they name.
/// @throws Error  if they don't fit
std::string apply_hunks(std::string_view before, std::string_view hunks);

}  // namespace sortie
