#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/workspace/diff/diff_text.h"

namespace sortie {

/// What the hunks of one text file's patch change.
struct HunkCounts {
  int added = 0;  ///< lines
  int removed = 0;
};

/// Whether git takes content for binary: a NUL in its first 8,000 bytes (git, xdiff-interface.c).
bool is_binary_content(std::string_view content);

/// Writes the hunks between two texts; nothing for equal ones. libgit2 writes those of most files. It needs some 65 bytes a line, so
/// new and deleted files, and files that have more than `most_lines` lines on both sides together, are
/// written here, from the lines that differ (changed_lines.h). Their hunks name no function.
HunkCounts make_hunks(std::string_view before, std::string_view after, int context_lines,
                      DiffTextWriter& text, std::size_t most_lines = 100'000);

/// Applies hunks to exactly the lines that they name.
/// @throws Error  if they don't fit
std::string apply_hunks(std::string_view before, std::string_view hunks);

/// Whether applying the hunks gives this text, which is compared line by line as it would be made.
/// @param read_on  called every now and then
/// @throws Error   if they don't fit `before`
bool hunks_give(std::string_view before, std::string_view hunks, std::string_view after,
                const ReadOn& read_on = {});

}  // namespace sortie
