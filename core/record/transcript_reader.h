#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/record/event_codec.h"

namespace sortie {

/// What a check of a transcript, or of a run's folder, found.
struct VerifyResult {
  bool ok = false;
  /// The first thing that does not fit: "transcript.jsonl:18: prev is 9f2c…, but the SHA-256 of
  /// line 17 is 1a2b…". "" when ok.
  std::string problem;
  std::uint64_t records = 0;     ///< whole and fitting
  std::uint64_t bytes = 0;       ///< of those records: the valid prefix
  bool finished = false;         ///< the last record is run.completed
  std::uint64_t torn_bytes = 0;  ///< of a last line without its newline: a record cut off
  std::string run_id;
  std::string last_digest;             ///< SHA-256 of the last fitting line
  std::vector<std::string> artifacts;  ///< compared with run.completed and equal
  std::uint64_t blobs = 0;             ///< compared and equal

  /// One line for people: "1234 records, 3 blobs, 2 artifacts: all fit", or the problem.
  std::string text() const;
};

/// Checks a transcript's chain, numbers, form and blobs; for a run's folder also the artifacts'
/// digests in its last run.completed, what result.json says of the transcript, and that blobs/
/// holds nothing that no record names.
/// @param path  the folder or the transcript itself
/// @throws Error  ExitCode::usage where there is no transcript
VerifyResult verify_run(const std::filesystem::path& path);

/// The same for a transcript's bytes, without blobs and artifacts.
VerifyResult verify_transcript(std::string_view text);

/// A record as it stands.
struct TranscriptRecord {
  std::uint64_t seq = 0;
  std::string timestamp;
  std::string type;
  int turn = 0;
  std::string prev;
  Json data;

  /// Nothing for a type that is not known.
  std::optional<RunEvent> event() const { return read_event(type, turn, data); }
};

/// Parses one line.
/// @throws Error  ExitCode::integrity with what is wrong
TranscriptRecord parse_record(std::string_view line);

/// What a file begins with.
enum class Beginning {
  record,  ///< a whole line: a run's first record, run.started
  torn,    ///< no whole line: nothing, or the beginning of a first record that was cut off
  other,   ///< anything else; it can't be read
};
Beginning beginning_of(const std::filesystem::path& path);

/// Hands over every whole record in order; a torn last line is left out. Does not check the chain.
/// @throws Error  ExitCode::integrity "transcript.jsonl:LINE: …"
void read_transcript(const std::filesystem::path& path,
                     const std::function<void(const TranscriptRecord&)>& each);

/// The value with what was too long for its record taken from blobs/ beside the transcript.
/// @throws Error  ExitCode::integrity where a blob is not what its name says
Json with_blobs(const Json& value, const std::filesystem::path& transcript);

/// The event of a record of a known type, with what was too long for it.
/// @throws Error  as with_blobs()
RunEvent event_with_blobs(const TranscriptRecord& record, const std::filesystem::path& transcript);

}  // namespace sortie
