#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "app/inputs/options.h"
#include "app/setup/run_services.h"
#include "app/show/error_stream.h"
#include "app/show/event_writer.h"
#include "app/show/events_jsonl.h"
#include "app/show/progress.h"
#include "ci/result.h"
#include "ci/tally.h"
#include "core/base/clock.h"
#include "core/record/event_fanout.h"
#include "core/record/events.h"
#include "core/record/transcript.h"
#include "core/secrets/redact.h"

namespace sortie {

/// All that hears of a run while it goes on: the transcript, the tally for result.json, the live
/// events on stdout, the lines on stderr.
///
/// A run that fails before begin() has stderr and, with `json`, its stream of events all the same.
class RunRecord : public Notices {
 public:
  struct Options {
    std::filesystem::path folder;  ///< --out, which takes the transcript
    bool json = false;             ///< live events are written
    int retries = 0;               ///< as in EventsJsonl::Options
    OutputStyle style{};
    int lines = STDOUT_FILENO;  ///< takes the live events
    int errors = STDERR_FILENO;
  };
  /// @param result  what the run comes to: told at the end. It and the redactor outlive this
  RunRecord(Options options, const Redactor& redactor, RunResult& result);
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  /// Opens the sinks: from here on events are heard. Starts threads.
  /// @throws Error  environment: the transcript can't be made
  void begin(const Clock& clock, std::uint64_t most_transcript_bytes);
  bool has_begun() const noexcept { return transcript_ != nullptr; }

  EventSink& events() noexcept { return events_; }
  /// Of the last event: for what happens beside the turns.
  int turn() const noexcept { return events_.turn(); }
  const Tally& tally() const noexcept { return tally_; }

  void say(const std::string& line) override;
  void warn(const std::string& line) override;
  /// Shown as a warning, and not kept.
  void show_warning(const std::string& line);
  /// A line on stderr that is no step of the run: redacted by the caller, without a newline.
  void write_error(const std::string& line);

  /// Puts the run's end on record, with the result as it is now; once more where that has changed:
  /// the last end counts. Before begin() it does nothing.
  void close();
  /// No status line from here on.
  void end_progress();
  /// Ends the stream of live events, all that the record will ever say being said, and waits for
  /// its reader. Never throws: what can't be written is told on stderr.
  void end_live_events(const std::stop_token& stop) noexcept;
  /// Nothing is written behind it.
  /// @param line  without its newline
  void say_last(const std::string& line, const std::stop_token& stop);

 private:
  ErrorStream& errors();
  void open_live_events();
  void write_live_end(const std::stop_token& stop);
  void say_of_lines(const std::string& problem);
  RunEnd run_end() const;

  Options options_;
  const Redactor& redactor_;
  RunResult& result_;
  Tally tally_;
  std::unique_ptr<Transcript> transcript_;
  std::unique_ptr<EventWriter> event_writer_;  ///< to `lines`, where live events are asked for
  std::unique_ptr<ErrorStream> errors_;        ///< through that writer where both are one
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<EventsJsonl> live_events_;  ///< what the event writer writes
  bool reader_stalls_ = false;                ///< live events are lost, since nobody took them
  EventFanout events_;
};

}  // namespace sortie
