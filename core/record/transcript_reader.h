#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/record/event_codec.h"
#include "core/record/transcript_lines.h"
#include "core/record/verify_result.h"

namespace sortie {

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

/// Checks a transcript's chain, numbers, form and blobs as verify_run() does, and passes on the event,
/// with its blobs, of each record that fits to those before it, in one pass. Unknown types are left out.
/// What was passed on is to be forgotten if the result, which is that of the whole, is not ok.
/// @param each  gets the event and its timestamp
/// @throws Error  ExitCode::usage if there is no transcript
VerifyResult verify_events(
    const std::filesystem::path& transcript,
    const std::function<void(RunEvent event, std::string_view timestamp)>& each);

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
