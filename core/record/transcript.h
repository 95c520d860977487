#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/record/blobs.h"
#include "core/record/event_codec.h"

namespace sortie {

/// The file's name in --out.
inline constexpr const char* kTranscriptName = "transcript.jsonl";
/// `prev` of the first record.
inline constexpr const char* kNoRecordBefore =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// Appends records to transcript.jsonl, each with its envelope: hash chain, one write(2) a
/// record, synced where the record's effect could be seen outside.
///
/// Once a record could not be written nothing can be recorded any more: every further one throws
/// too, so that nothing is done that is on no record. The file then still ends with a whole record.
///
/// Source: docs/formats.md#transcript.
class Transcript {
 public:
  /// Makes FOLDER/transcript.jsonl, which must not exist; FOLDER must.
  /// @param max_bytes  of the transcript with its blobs; past it outputs are cut
  /// @throws Error  ExitCode::environment
  Transcript(const std::filesystem::path& folder, const Clock& clock,
             std::uint64_t max_bytes = 200ull << 20);

  /// @throws Error  ExitCode::environment with the cause: disk full, read-only, …
  void on(const Record& record);

  std::uint64_t records() const noexcept { return next_seq_; }
  /// SHA-256 of the last record's line: what the next one's `prev` would be.
  const std::string& last_digest() const noexcept { return prev_; }

 private:
  void append(const Record& record);
  Record with_whole_output(const Record& record);
  bool fits(const Record& record) const;
  std::string line(const Record& record, const Json& data) const;
  void write(const std::string& line);
  void sync();
  [[noreturn]] void fail(const std::string& step);

  std::filesystem::path path_;
  const Clock& clock_;
  Blobs blobs_;
  std::uint64_t max_bytes_;
  Fd file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t next_seq_ = 0;
  std::string prev_ = kNoRecordBefore;
  bool synced_ = true;
  bool limit_told_ = false;
  std::string failure_;  ///< why nothing can be recorded any more
};

}  // namespace sortie
