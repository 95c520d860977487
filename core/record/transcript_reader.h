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

/// Checks a transcript's chain, numbers, form and blobs; for a run's folder also the artifacts
/// against the digests in run.completed, result.json against the transcript, and that records name
/// everything in blobs/.
/// @param path  the folder or the transcript itself
/// @throws Error  ExitCode::usage if there is no transcript
VerifyResult verify_run(const std::filesystem::path& path);

/// The same for a transcript's bytes, without blobs and artifacts.
VerifyResult verify_transcript(std::string_view text);

/// A record with its envelope.
struct TranscriptRecord {
  std::uint64_t seq = 0;
  std::string timestamp;
  std::string type;
  int turn = 0;
  std::string prev;
  Json data;

  /// Nothing for an unknown type.
  std::optional<RunEvent> event() const { return read_event(type, turn, data); }
};

/// No record of ours is longer than 1 MiB; a longer line than this is no record.
inline constexpr std::size_t kLongestLine = 8u << 20;
inline constexpr const char* kRecordTooLong = "is longer than 8 MiB, which no record is";

/// Parses one line.
/// @throws Error  ExitCode::integrity with what is wrong
TranscriptRecord parse_record(std::string_view line);

/// How a file begins.
enum class Beginning {
  record,  ///< with a run's first record, run.started
  torn,    ///< without a whole line: empty, or the start of a first record
  other,   ///< with something else, or it can't be read
};
Beginning beginning_of(const std::filesystem::path& path);

/// Passes on the text of every whole line in order, without its newline, until false is returned.
/// @throws Error  usage: the file can't be read, or is not a regular one
void each_record_line(const std::filesystem::path& path,
                      const std::function<bool(std::string_view)>& each);

/// Checks a transcript's chain, numbers, form and blobs as verify_run() does, and passes on each record
/// that fits to those before it, in one pass. What was passed on is to be forgotten if the result, which
/// is that of the whole, is not ok.
/// @throws Error  ExitCode::usage if there is no transcript
VerifyResult verify_records(const std::filesystem::path& transcript,
                            const std::function<void(TranscriptRecord)>& each);

/// Passes on every whole record in order; skips a torn last line. Does not check the chain.
/// @throws Error  ExitCode::integrity "transcript.jsonl:LINE: …"
void read_transcript(const std::filesystem::path& path,
                     const std::function<void(const TranscriptRecord&)>& each);

/// The value with its blobs, read from blobs/ beside the transcript.
/// @throws Error  ExitCode::integrity if a blob does not match its name
Json with_blobs(const Json& value, const std::filesystem::path& transcript);

/// The event of a record of a known type, with its blobs.
/// @throws Error  as with_blobs()
RunEvent event_with_blobs(const TranscriptRecord& record, const std::filesystem::path& transcript);
/// The same of a record that is not needed otherwise; nothing for an unknown type.
std::optional<RunEvent> whole_event(TranscriptRecord record,
                                    const std::filesystem::path& transcript);

}  // namespace sortie
