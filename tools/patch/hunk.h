#pragma once

#include <optional>
#include <string>
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

}  // namespace sortie::patch
