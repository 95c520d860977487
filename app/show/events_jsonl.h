#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/show/event_items.h"
#include "core/catalog/item.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/text/output_buffer.h"

namespace sortie {

/// Shows a run as the event stream of `codex exec --json` (docs/events.md): one JSON object a line,
/// redacted for people.
///
/// A run is one turn of that stream, with all stages and rounds of verification. So `turn.completed`
/// means that the run has succeeded.
///
/// Items complete in the order in which they started, even if calls run in parallel; every item that
/// was started is completed before the turn ends.
class EventsJsonl : public EventSink {
 public:
  struct Options {
    std::string thread_id;
    int retries = 0;  ///< the most of one request, for "Reconnecting... 1/5"
    /// More than codex has: `run.completed`, the progress in each item, every warning as an item.
    bool own_events = true;
  };
  /// @param write  takes each line, with its newline
  EventsJsonl(Options options, const Redactor& redactor,
              std::function<void(std::string line)> write);

  void on(const RunEvent& event) override;

  /// Additional members of the stream's last line.
  struct Closing {
    std::string next{};                           ///< what to do about it; may be ""
    std::optional<std::int64_t> retry_after_s{};  ///< rounded up
    std::string out{};                            ///< the output folder
  };
  /// Ends the stream, even for a run without any event: completes open items, ends the turn, and writes
  /// `run.completed` as the last line.
  void end(RunEnd end, const Closing& closing);

 private:
  /// An item that was started and is not completed.
  struct Open {
    std::string id;       ///< "item_3"
    std::string call_id;  ///< "" if it is not a call of the model
    Json item;
    bool done = false;  ///< waits for items that started before it
  };
  using OpenItems = std::list<Open>;
  /// A command that keeps running after its call, with its output so far.
  struct Session {
    Open open;
    HeadTail output;
  };

  void begin();
  void take(const RunStart& start);
  void take(const ModelAnswered& answer);
  void take(const ModelCutOff& answer);
  void take(const RetryRecord& retry);
  void take(const CallDecided& call);
  void take(const ToolCalled& called);
  void take(ToolOutputRecord output);
  void take(const PlanUpdated& plan);
  void take(const VerificationRecord& record);
  void take(const VerificationCompleted& record);
  template <class Other>
  void take(const Other&) {}  // not shown here
  void take_quiet(const ToolCalled& called, const ToolOutputRecord& output);
  void update_session(Session& session, const std::string& printed);
  bool take_session(std::int64_t id, const ToolOutputRecord& output);
  void warn(const std::string& message);

  OpenItems::iterator start(Json item, std::string call_id = {});
  void show_at_once(Json item, bool started);
  void show_completed();
  void complete_all();
  void count_changes(const ToolOutputRecord& output);
  Json progress() const;
  void item_line(const char* type, const std::string& id, const Json& item);
  void line(const Json& event);
  std::string new_id();

  Options options_;
  const Redactor& redactor_;
  std::function<void(std::string)> write_;
  bool begun_ = false;
  std::uint64_t next_id_ = 0;
  Usage usage_;
  /// By call id, for calls that have no item yet.
  std::map<std::string, std::vector<RecordedAction>> actions_;
  std::map<std::string, ToolCalled> quiet_;  ///< calls that are shown only if they fail
  OpenItems open_;                           ///< in the order in which they started
  std::map<std::int64_t, Session> sessions_;
  std::filesystem::path workspace_;  ///< as the tools see it
  std::optional<Open> plan_;
  int turn_ = 0;
  std::map<std::string, PatchLines> patches_;  ///< by call id, of calls that have not ended
  PatchLines patched_;                         ///< by the patches that succeeded
  std::set<std::string> changed_;              ///< files that calls touched
};

/// JSON Schema (draft 2020-12) of a line of `run --json`: `sortie schema event`.
Json event_schema();

}  // namespace sortie
