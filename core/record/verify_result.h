#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sortie {

/// The result of checking a transcript, or a run's folder.
struct VerifyResult {
  bool ok = false;
  /// The first problem: "transcript.jsonl:18: prev is 9f2c…, but the SHA-256 of line 17 is 1a2b…".
  /// "" if ok.
  std::string problem;
  std::uint64_t records = 0;     ///< whole and valid
  std::uint64_t bytes = 0;       ///< of these records: the valid prefix
  bool finished = false;         ///< the last record is run.completed
  std::uint64_t torn_bytes = 0;  ///< of a last line without newline: a record cut off
  std::string run_id;
  std::string last_digest;             ///< SHA-256 of the last valid line
  std::vector<std::string> artifacts;  ///< whose digests match run.completed
  std::uint64_t blobs = 0;             ///< whose digests match

  /// One line for people: "1234 records, 3 blobs, 2 artifacts: all fit", or the problem.
  std::string text() const;
};

}  // namespace sortie
