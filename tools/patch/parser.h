#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie::patch {

/// A line of a chunk, without its sign.
struct ChunkLine {
  enum class Kind { context, removed, added };
  Kind kind = Kind::context;
  std::string text;
  bool operator==(const ChunkLine&) const = default;
};

/// Lines to be found in a file, and what they become.
struct Chunk {
  std::optional<std::string> anchor{};  ///< "@@ anchor": a line before the chunk's lines
  std::vector<ChunkLine> lines{};
  bool end_of_file = false;
  int line = 0;  ///< of the patch, from 1, where the chunk begins
  bool operator==(const Chunk&) const = default;
};

/// One section of a patch: what is to become of one file.
struct Hunk {
  enum class Kind { add, remove, update };
  Kind kind = Kind::update;
  std::string path;                      ///< as written
  std::optional<std::string> move_to{};  ///< of an update
  std::string content{};                 ///< of an add
  std::vector<Chunk> chunks{};           ///< of an update
  int line = 0;                          ///< of the patch, from 1
  bool operator==(const Hunk&) const = default;
};

/// Parses the text of an apply_patch call into its hunks, in the order written.
///
/// Judges the text alone: whether files exist and context matches is applier.h's part.
///
/// @param text  "*** Begin Patch" to "*** End Patch", UTF-8, LF or CRLF; one heredoc around it is
///              accepted, since some models send one
/// @return      at least one hunk
/// @throws ToolError  "Invalid patch: …" or "Invalid patch hunk on line N: …", N from 1
///
/// Source: the apply_patch grammar (docs/formats.md#apply_patch).
std::vector<Hunk> parse_patch(std::string_view text);

}  // namespace sortie::patch
