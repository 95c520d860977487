#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// The content of a file before the diff, from wherever it can be had; nothing if it can't.
using BaseContents = std::function<std::optional<std::string>(const DiffFile&)>;

/// What one proof makes at most, in all: small patches can say that they make much.
inline constexpr std::uint64_t kMostProved = 4ull << 30;

/// What applying a recorded diff to its recorded base shows.
struct DiffProof {
  std::string problem;                ///< the first thing that does not fit; "" if all does
  std::size_t proved = 0;             ///< files whose base and end were compared byte for byte
  std::vector<std::string> unproved;  ///< files whose base can't be had here
  std::uint64_t bytes_left = kMostProved;
};

/// Applies a diff to the recorded base, file by file, and compares with the recorded end: paths,
/// modes, and the digest of each content. Never throws for a diff that is wrong: says what is.
/// @param files   what was recorded of the diff; their paths are relative to `prefix`
/// @param base    whose contents are compared with the recorded digests too
DiffProof prove_diff(const std::string& text, const std::vector<DiffFile>& files,
                     const std::string& prefix, const BaseContents& base);

}  // namespace sortie
