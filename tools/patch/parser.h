#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie::patch {

/// A line of a chunk, without its leading sign.
struct ChunkLine {
  enum class Kind { context, removed, added };
  Kind kind = Kind::context;
  std::string text;
  bool operator==(const ChunkLine&) const = default;
};

/// Lines to find in a file, and their replacement.
struct Chunk {
  std::optional<std::string> anchor{};  ///< from "@@ anchor": a line before the chunk
  std::vector<ChunkLine> lines{};
  bool end_of_file = false;
  int line = 0;  ///< where the chunk begins in the patch, from 1
  bool operator==(const Chunk&) const = default;
};

/// One section of a patch: the change of one file.
struct Hunk {
  enum class Kind { add, remove, update };
  Kind kind = Kind::update;
  std::string path;                      ///< as written
  std::optional<std::string> move_to{};  ///< for an update
  std::string content{};                 ///< for an add
  std::vector<Chunk> chunks{};           ///< for an update
  int line = 0;                          ///< where the hunk begins in the patch, from 1
  bool operator==(const Hunk&) const = default;
};

/// Parses the text of an apply_patch call into its hunks, in the order written.
///
/// Checks only the syntax; applier.h checks whether files exist and context matches.
///
/// @param text  "*** Begin Patch" to "*** End Patch", UTF-8, LF or CRLF; one heredoc around it is
///              accepted, since some models send one
/// @return      at least one hunk
/// @throws ToolError  "Invalid patch: …" or "Invalid patch hunk on line N: …", N from 1
///
/// Source: the apply_patch grammar (docs/formats.md#apply_patch).
std::vector<Hunk> parse_patch(std::string_view text);

}  // namespace sortie::patch
