#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/inputs/options.h"
#include "app/run/call_changes.h"
#include "app/run/earlier_run.h"
#include "app/run/patched_paths.h"
#include "app/setup/run_services.h"
#include "app/show/error_stream.h"
#include "app/show/event_writer.h"
#include "app/show/events_jsonl.h"
#include "app/show/progress.h"
#include "ci/result.h"
#include "ci/tally.h"
#include "core/base/clock.h"
#include "core/record/events.h"
#include "core/record/run_history.h"
#include "core/record/transcript.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Lines of JSON as stdout gets them. Their values are unchanged: what a terminal or a CI system would
/// act on comes as escapes.
std::string events_for_stdout(std::string lines, bool terminal);

/// The receivers of a run's events: the transcript, the tally for result.json, the live events on
/// stdout, the lines on stderr.
///
/// A run that fails before begin() still has stderr and, with `json`, its stream of events.
class RunRecord : public Notices {
 public:
  struct Options {
    std::filesystem::path folder;  ///< --out, with the transcript
    bool json = false;             ///< live events are written
    std::string anchor{};          ///< as in RunOptions; "": none
    std::string thread{};          ///< the thread's id in the events; "": the run's
    bool own_events = true;        ///< as in EventsJsonl::Options
    int retries = 0;               ///< as in EventsJsonl::Options
    OutputStyle style{};
    LogLines::Options log{};
    std::filesystem::path workspace{};  ///< for notes at places in its files; "": none
    int lines = STDOUT_FILENO;          ///< takes the live events
    int errors = STDERR_FILENO;
    std::function<void(int number)> on_stdout_failure{};  ///< as in ThreadRun
  };
  /// @param result  is reported at the end. It and the redactor outlive this object
  RunRecord(Options options, const Redactor& redactor, RunResult& result);
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  /// Opens the sinks, which get all later events. Starts threads.
  /// @throws Error  environment: the transcript can't be made
  void begin(const Clock& clock, std::uint64_t most_transcript_bytes);
  /// What take_up() would read, if somebody has read it already.
  void know(EarlierRun recorded) { recorded_ = std::move(recorded); }
  /// Reads what an earlier process of the run recorded, to go on with it; before begin().
  /// @throws Error  integrity: the transcript was changed
  const RunHistory& take_up();
  /// Tells the operator where the run goes on.
  void say_taken_up();
  /// Nothing unless the run was taken up.
  const std::optional<RunHistory>& earlier() const noexcept { return earlier_; }
  bool has_begun() const noexcept { return transcript_ != nullptr; }

  EventSink& events() noexcept { return events_; }
  /// Returns once all that is recorded is on disk. @throws Error  environment
  void sync();
  /// How many records there were when the turn began, without its own.
  std::uint64_t records() const noexcept { return turn_ends_.records; }
  /// Calls this with each turn that has ended, when the next one begins. @param then  does not throw
  void at_turn_ends(std::function<void(int turn)> then) { turn_ends_.then = std::move(then); }
  /// The turn of the last event, for events outside of turns.
  int turn() const noexcept { return events_.turn(); }
  const Tally& tally() const noexcept { return tally_; }
  /// The paths that patches of the agent wrote. Safe in every thread.
  std::set<std::string> patched_paths() const { return patched_.paths(); }
  /// The connections that commands opened. Safe in every thread.
  const OpenedConnections& connections() const noexcept { return connections_; }

  void say(const std::string& line) override;
  void warn(const std::string& line) override;
  /// Shows a warning without keeping it in the result.
  void show_warning(const std::string& line);
  /// Shows lines as they are: redacted, with colours.
  void show_lines(const std::vector<std::string>& lines);
  /// How lines for show_lines() look.
  LogStyle log_style() const;
  /// Shows the output of a running command; any thread.
  void show_output(const void* output, std::string_view text);
  /// Writes a line on stderr that is not a step of the run; redacted by the caller, no newline.
  void write_error(const std::string& line);

  /// Says that stdout could not take the answer, or calls on_stdout_failure. Its events do so by
  /// themselves.
  /// @param number  the errno of the failed write
  void take_stdout_failure(int number, const std::string& line);

  /// Records the run's end with the current result; may be called again if that has changed: the last
  /// end counts. Before begin() it does nothing.
  void close();
  /// No status line from here on.
  /// @param with_message  the agent's last message is shown, since stdout does not have it
  void end_progress(bool with_message);
  /// Writes the live events of the run that the folder holds.
  void show_again();
  /// Ends the stream of live events after everything else, and waits for its reader. Errors are
  /// printed on stderr.
  void end_live_events(const std::stop_token& stop) noexcept;
  /// Writes the last line; with --quiet only if the run failed. A CI system gets the outcome, and
  /// the warnings of the result, as notes of the job too.
  /// @param line  without its newline
  void say_last(const std::string& line, const std::stop_token& stop);

 private:
  struct TurnEnds : EventSink {
    void on(const RunEvent& event) override;
    const std::unique_ptr<Transcript>* transcript = nullptr;
    std::uint64_t records = 0;
    std::function<void(int turn)> then{};
  };
  ErrorStream& errors();
  void open_live_events();
  void write_live_end(const std::stop_token& stop);
  bool hand_on_stdout_failure(int number) const;
  void warn_about_stdout(const std::string& problem);
  void annotate();
  RunEnd run_end() const;

  Options options_;
  const Redactor& redactor_;
  RunResult& result_;
  Tally tally_;
  PatchedPaths patched_;
  std::optional<EarlierRun> recorded_;
  std::optional<RunHistory> earlier_;
  OpenedConnections connections_;
  TurnEnds turn_ends_;
  std::unique_ptr<Anchor> anchor_;
  std::unique_ptr<Transcript> transcript_;
  std::unique_ptr<EventWriter> event_writer_;  ///< to `lines`, if live events are wanted
  std::unique_ptr<ErrorStream> errors_;        ///< through that writer where both are one
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<EventsJsonl> live_events_;  ///< what the event writer writes
  bool reader_stalls_ = false;                ///< live events are lost, since nobody read them
  EventFanout events_;
};

}  // namespace sortie
