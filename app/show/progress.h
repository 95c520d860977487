#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "app/inputs/options.h"
#include "app/show/call_lines.h"
#include "app/show/error_stream.h"
#include "core/catalog/cost.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

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
