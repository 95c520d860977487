#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/show/call_lines.h"
#include "app/show/log_style.h"
#include "core/catalog/cost.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// A part of the log.
struct LogLine {
  enum class Kind { text, group };
  std::string text{};
  Kind kind = Kind::text;  ///< a group begins (and the one before it ends): the text is its title;
                           ///< "" ends the last group
  bool operator==(const LogLine&) const = default;
};

/// The log of a run on stderr, as a function of its events: no clock, no terminal.
///
/// Quiet where all is well: a line per call, the agent's words between calls; the last lines of a
/// command or verification that failed, and why something was denied.
class LogLines {
 public:
  struct Options {
    int rounds = 1;                ///< verifications at most: verify.rounds + 1
    bool start_must_pass = false;  ///< verify.before: pass
    bool groups = false;           ///< the turns are groups
  };
  LogLines(Options options, const Redactor& redactor)
      : options_(options), redactor_(redactor), calls_(redactor) {}

  /// The lines of an event; events are already redacted for people.
  std::vector<LogLine> on(const LogStyle& style, const RunEvent& event);
  /// The lines of a command's output while it runs; only with `verbose`.
  /// @param source  tells the commands that run at the same time apart
  std::vector<LogLine> on_output_text(const LogStyle& style, const void* source,
                                      std::string_view text);
  /// The last lines: the rest of outputs, and the end of the last group.
  /// @param with_message  the agent's last message, unless it is printed elsewhere
  std::vector<LogLine> finish(const LogStyle& style, bool with_message);

  /// For the status line: "turn 3 | 41200 tokens | 0.52 USD | $ make test".
  std::string status(const std::string& elapsed) const;
  /// What the run does now.
  const std::string& now() const { return now_; }
  int turn() const { return turn_; }

 private:
  void show(const TurnStarted& turn);
  void show(const ModelAnswered& answer);
  void show(const CompactionRecord& record);
  void show(const ModelCutOff& answer);
  void show(const RetryRecord& retry);
  void show(const PacedWait& wait);
  void show(const FallbackRecord& record);
  void show(const CallDecided& call);
  void show(const ToolCalled& called) { calls_.on_called(called); }
  void show(const ToolOutputRecord& output);
  void show(const PlanUpdated& plan);
  void show(const NetworkRecord& record);
  void show(const McpServerRecord& record);
  void show(const VerificationRecord& record);
  void show(const VerificationCompleted& record);
  void show(const StageRecord& stage);
  void show(const StageCompleted& stage);
  void show(const CheckRecord& hit);
  template <class Other>
  void show(const Other&) {}  // not shown to people
  void add(std::string line);
  void add_turn_line(const std::string& text, Tint tint = Tint::plain);
  void add_words();
  void end_group();
  void flush_output();
  std::string mark() const { return "[" + std::to_string(event_turn_) + "] "; }
  std::string shown(std::string_view text) const { return line_for_people(text, redactor_, 1000); }

  Options options_;
  const Redactor& redactor_;
  LogStyle style_;  ///< of the current event
  std::vector<LogLine> lines_;
  CallLines calls_;
  std::set<std::string> servers_;               ///< MCP servers that have started
  std::map<const void*, std::string> outputs_;  ///< unfinished lines
  std::string words_;                           ///< the agent's, which are not shown yet
  int words_turn_ = 0;
  std::optional<std::string> title_;  ///< of a group that has not begun
  bool in_group_ = false;
  int turn_ = 0;
  int event_turn_ = 0;  ///< of the current event
  std::int64_t tokens_ = 0;
  Cost cost_;
  bool cost_known_ = true;  ///< for all responses so far
  std::string now_ = "starting";
};

}  // namespace sortie
