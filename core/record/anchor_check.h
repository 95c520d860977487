#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// Compares a file of anchor lines with a transcript: each line of its run must have the digest of
/// that record, and there must be one.
/// @param anchor  may hold lines of other runs, and a last line that was cut off
/// @return        "" or the first line that differs: "anchor.jsonl:3: …"
/// @throws Error  usage: a file can't be read, or holds no anchor lines
std::string anchor_mismatch(const std::filesystem::path& anchor,
                            const std::filesystem::path& transcript);

}  // namespace sortie
