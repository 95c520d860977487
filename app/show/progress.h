#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/inputs/options.h"
#include "app/show/ci_log.h"
#include "app/show/error_stream.h"
#include "app/show/log_lines.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The style of lines that this process shows for another one.
/// @param taken  columns of each line that are this process's own
OutputStyle relayed_style(OutputStyle style, std::size_t taken);

/// Shows people a run's progress on stderr: the lines of LogLines. On a terminal there is a live
/// status line below; elsewhere a heartbeat at least every 30 s, so that a CI job shows signs of
/// life. With --quiet nothing.
class Progress : public EventSink {
 public:
  /// @param redactor  for say(); events are already redacted for people
  /// @param errors    where the lines go; outlives this, as the redactor does
  /// @param quiet     the longest time without a line, where there is no status line
  Progress(const OutputStyle& style, LogLines::Options options, const Redactor& redactor,
           ErrorStream& errors, std::chrono::seconds quiet = std::chrono::seconds(30));
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() override;

  void on(const RunEvent& event) override;
  /// Output of a command that is still running; any thread.
  void on_output(const void* source, std::string_view text);
  /// A line that is not about an event.
  void say(const std::string& text);
  /// A warning.
  void warn(const std::string& text);
  /// Lines as they are, redacted by the caller.
  void print_lines(const std::vector<std::string>& lines);
  /// Ends the status line and the heartbeat.
  /// @param with_message  the agent's last message is shown too
  void finish(bool with_message);

  /// For lines that are made elsewhere; the terminal's width is asked each time.
  LogStyle style() const;
  const CiLog& ci_log() const { return ci_log_; }

 private:
  void tick();
  void print(const std::vector<LogLine>& lines);
  void print_line(std::string line) { print({{std::move(line)}}); }
  void begin_group(const std::string& title);
  std::string status_line() const;
  std::string elapsed() const;

  OutputStyle style_;
  const Redactor& redactor_;
  ErrorStream& errors_;
  CiLog ci_log_;
  std::chrono::seconds quiet_;
  bool terminal_;  ///< has a status line
  bool colors_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_line_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  bool status_shown_ = false;
  int groups_ = 0;
  bool in_group_ = false;
  LogLines lines_;
  std::thread ticker_;
};

}  // namespace sortie
