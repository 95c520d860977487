#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/show/log_style.h"
#include "core/record/call_events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The lines of tool calls on stderr: one each, with what was run, the time, and the verdict if it is
/// not a plain success. A command that failed is followed by its last lines of output.
///
/// Calls may run in parallel; a line is written when its call's output arrives, so lines are in the
/// order of the calls. With `verbose` a command's line comes when it begins, as its output does.
class CallLines {
 public:
  explicit CallLines(const Redactor& redactor) : redactor_(redactor) {}

  /// @return  the line of a command that begins, with `verbose`
  std::vector<std::string> on_approval(const LogStyle& style, int turn, const CallDecided& decided);
  /// Takes from an allowed call's arguments what its actions don't tell: the pattern of a search.
  void on_called(const ToolCalled& called);
  /// The lines of a call that has ended.
  std::vector<std::string> on_output(const LogStyle& style, int turn,
                                     const ToolOutputRecord& record);
  /// Output of a command was shown while it ran, so it is not shown again at its end.
  void output_was_shown();
  /// The running calls: the first one, and the number of the others; "" for none.
  std::string under_way() const;

 private:
  /// A call that has its approval and no output yet.
  struct Call {
    std::string id;
    std::string what;    ///< "$ git status", "read_file src/a.c": one line
    std::string rest{};  ///< the further lines of a script
    bool is_command = false;
    std::optional<Ruling> decision;  ///< nothing if there was no decision
    std::string note{};              ///< about an allowed call
    std::string reason{};            ///< of a call that was not allowed
    bool begun = false;              ///< its line was written when it began
    bool prints_live = false;        ///< its output is shown while it runs
    bool output_shown = false;
  };
  Call take(const ToolOutputRecord& output);
  LogEntry entry_of(const LogStyle& style, const Call& call, const ToolOutputRecord& output) const;
  std::vector<std::string> script_lines(const LogStyle& style, const Call& call) const;
  std::string shown(std::string_view text) const { return line_for_people(text, redactor_); }

  const Redactor& redactor_;
  std::vector<Call> calls_;  ///< in their order
};

/// "exit 1", "signal 9", "timed out after 10 s", "not started: no such program"; "failed" for a call
/// without a command; "" for a success; "exit code unknown"
/// for a code that there can't be.
std::string verdict_of(const std::optional<ExitStatus>& exit, bool success = true);
/// "1.3 s", "2 min 5 s"; "unknown" below 0
std::string seconds_text(std::chrono::milliseconds duration);
/// The same beside a verdict: "time unknown" below 0.
std::string took_text(std::chrono::milliseconds duration);
/// A command as it could be pasted into a shell: its words, quoted, or the script of `bash -c`.
std::string pasteable(const std::vector<std::string>& argv);
/// The first line, with "… 3 more lines" if there are more.
std::string first_line_of(std::string_view text, const Redactor& redactor);

}  // namespace sortie
