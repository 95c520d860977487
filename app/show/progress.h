#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/inputs/options.h"
#include "app/show/error_stream.h"
#include "core/catalog/cost.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The lines of tool calls on stderr: one each, with its decision, its result and its time.
///
/// Calls may run in parallel; a line is written when its call's output arrives, so lines are in the
/// order of the calls, and with `outputs` each is followed by its own output.
class CallLines {
 public:
  struct Options {
    bool colors = false;
    bool outputs = false;  ///< the calls' outputs too, indented
  };
  CallLines(Options options, const Redactor& redactor) : options_(options), redactor_(redactor) {}

  void on_approval(const CallDecided& decided);
  /// @return  the call's line, and those of its output
  std::vector<std::string> on_output(int turn, const ToolOutputRecord& record);
  /// The running calls: the first one, and the number of the others; "" for none.
  std::string under_way() const;

 private:
  /// A call that has its approval and no output yet.
  struct Call {
    std::string id;
    std::string what;                ///< "shell git status"
    std::optional<Ruling> decision;  ///< nothing if there was no decision
    std::string note;                ///< about an allowed call
    std::string reason;              ///< of a call that was not allowed
  };
  Call take(const ToolOutputRecord& output);
  std::string line_of(const Call& call, const ToolOutputRecord& output) const;
  std::string shown(std::string_view text) const;

  Options options_;
  const Redactor& redactor_;
  std::vector<Call> calls_;  ///< in their order
};

/// Shows people a run's progress on stderr: a line per tool call (what, decision, exit, time), retries,
/// verification. On a terminal there is a live status line below; elsewhere a heartbeat at least
/// every 30 s, so that a CI job shows signs of life.
class Progress : public EventSink {
 public:
  /// @param redactor  for say(); events are already redacted for people
  /// @param errors    where the lines go; outlives this, as the redactor does
  Progress(const OutputStyle& style, const Redactor& redactor, ErrorStream& errors);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() override;

  void on(const RunEvent& event) override;
  /// A line that is not about an event.
  void say(const std::string& text);
  /// A warning, which is shown even with --quiet.
  void warn(const std::string& text);
  /// Ends the status line and the heartbeat.
  void finish();

 private:
  void show(const TurnStarted& turn);
  void show(const ModelAnswered& answer);
  void show(const CompactionRecord& record);
  void show(const ModelCutOff& answer);
  void show(const RetryRecord& retry);
  void show(const FallbackRecord& record);
  void show(const CallDecided& call);
  void show(const ToolOutputRecord& output);
  void show(const NetworkRecord& record);
  void show(const McpServerRecord& record);
  void show(const VerificationRecord& record);
  void show(const VerificationCompleted& record);
  void show(const StageRecord& stage);
  void show(const StageCompleted& stage);
  void show(const CheckRecord& hit);
  template <class Other>
  void show(const Other&) {}  // not shown to people
  void print_turn_line(const std::string& line);
  void tick();
  void print(const std::string& line);
  void draw_status();
  void clear_status();
  std::string elapsed() const;
  /// One line of foreign text, redacted for people.
  std::string shown(std::string_view text) const;

  OutputStyle style_;
  const Redactor& redactor_;
  ErrorStream& errors_;
  bool terminal_;
  bool colors_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_line_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  bool status_shown_ = false;
  int turn_ = 0;
  int event_turn_ = 0;  ///< of the current event
  std::int64_t tokens_ = 0;
  Cost cost_;
  bool cost_known_ = true;  ///< for all responses so far
  std::string now_ = "starting";
  CallLines calls_;
  std::set<std::string> servers_;  ///< MCP servers that have started
  std::thread ticker_;
};

}  // namespace sortie
