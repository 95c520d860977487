#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sortie {

struct AnchorCheck {
  std::string mismatch;     ///< "" or the first line that differs: "anchor.jsonl:3: …"
  std::uint64_t known = 0;  ///< records up to the last one that the file has a line of
  std::uint64_t records = 0;
};

/// Compares a file of anchor lines with a transcript: each line of its run must have the digest of
/// that record, there must be one, and one of its last record if that is the run's end: what follows
/// the last line could have been made anew.
/// @param anchor  may hold lines of other runs, and a last line that was cut off
/// @throws Error  usage: a file can't be read, or holds no anchor lines
AnchorCheck check_anchor(const std::filesystem::path& anchor,
                         const std::filesystem::path& transcript);

}  // namespace sortie
