#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/record/anchor.h"
#include "core/record/blobs.h"
#include "core/record/event_codec.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The file's name in --out.
inline constexpr const char* kTranscriptName = "transcript.jsonl";
/// `prev` of the first record.
inline constexpr const char* kNoRecordBefore =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// Where a transcript ends that is continued.
struct TranscriptEnd {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;    ///< of whole records; what follows is torn
  std::string last_digest{};  ///< SHA-256 of the last one's line
};

/// Appends records to transcript.jsonl, each with its envelope: hash chain, one write(2) a record,
/// synced if the record's effect could be seen outside: once a turn, with its first call.
///
/// After a failed write every further record throws too, so that nothing happens unrecorded. The
/// file still ends with a whole record then.
///
/// Source: docs/formats.md#transcript.
class Transcript {
 public:
  /// Creates FOLDER/transcript.jsonl, which must not exist; FOLDER must.
  /// @param max_bytes  of the transcript with its blobs; beyond it outputs are cut
  /// @throws Error  ExitCode::environment
  Transcript(const std::filesystem::path& folder, const Clock& clock,
             std::uint64_t max_bytes = 200ull << 20);
  /// Continues FOLDER/transcript.jsonl behind its last whole record; a torn one is cut off.
  /// @throws Error  ExitCode::environment
  Transcript(const std::filesystem::path& folder, const Clock& clock, const TranscriptEnd& end,
             std::uint64_t max_bytes);

  /// @throws Error  ExitCode::environment with the cause: disk full, read-only, …
  void on(const Record& record);

  /// Writes the head there from now on: with the run's start and end, and with each turn. To be
  /// called before the first record.
  void anchor_to(Anchor& anchor) { anchor_ = &anchor; }

  /// Returns once all records are on disk, and the file's name too. The run's start is at the latest
  /// when its first turn begins. @throws Error  as on()
  void sync();

  std::uint64_t records() const noexcept { return next_seq_; }
  /// SHA-256 of the last record's line: the `prev` of the next one.
  const std::string& last_digest() const noexcept { return prev_; }

 private:
  void append(const Record& record);
  Record with_whole_output(const Record& record);
  bool fits(const Record& record) const;
  /// @param bytes  written_size(data)
  std::string line(const Record& record, const Json& data, std::size_t bytes) const;
  void write(const std::string& line);
  void sync_with_name();
  void write_anchor();
  [[noreturn]] void fail(const std::string& step);

  std::filesystem::path path_;
  const Clock& clock_;
  Blobs blobs_;
  std::uint64_t max_bytes_;
  Fd file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t next_seq_ = 0;
  std::string prev_ = kNoRecordBefore;
  Anchor* anchor_ = nullptr;
  bool synced_ = true;
  bool name_synced_ = false;
  bool limit_told_ = false;
  std::string failure_;  ///< the failed write, if any
  Cause failed_by_ = Cause::other;
};

/// Records each event, redacted, then passes it to the sinks in order, redacted in the same way: it
/// is written before anyone sees it or acts on it. Sinks that show text to people redact it
/// further.
///
/// Events may come from several threads; the sinks get them one at a time.
class EventFanout : public EventSink {
 public:
  explicit EventFanout(const Redactor& redactor) : redactor_(redactor) {}
  /// To be called before the first event; the transcript outlives this.
  void record_to(Transcript& transcript) { transcript_ = &transcript; }
  void add(EventSink& sink) { sinks_.push_back(&sink); }
  void on(const RunEvent& event) override;
  void consume(RunEvent&& event) override;
  /// Transcript::sync(); also for a sink that gets an event.
  void sync();
  /// The turn of the last event, for events from other threads.
  int turn() const noexcept { return turn_; }

 private:
  std::optional<RunEvent> write(Record& record);
  void tell(const RunEvent& event);

  const Redactor& redactor_;
  Transcript* transcript_ = nullptr;
  std::vector<EventSink*> sinks_;
  std::recursive_mutex mutex_;  ///< a sink may sync
  std::atomic<int> turn_ = 0;
};

/// The parts of a record's line; the data is not parsed.
struct Envelope {
  std::uint64_t seq = 0;
  std::string_view timestamp;
  std::string_view type;
  int turn = 0;
  std::string_view prev;
  std::string_view data;  ///< an object's text
};

/// Splits a line (without its newline), which must be exactly as sortie writes it:
///
///     {"seq":N,"ts":"YYYY-MM-DDTHH:MM:SS.mmmZ","type":"…","turn":N,"prev":"64 hex","data":{…}}
///
/// @return "" or what is wrong with it
std::string split_envelope(std::string_view line, Envelope& envelope);

}  // namespace sortie
