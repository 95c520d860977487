#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

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

/// "exit 1", "signal 9", "timed_out"; "ok" or "failed" for a call without a command.
std::string describe_exit(const std::optional<ExitStatus>& exit, bool success = true);
/// "1.3 s"
std::string seconds_text(std::chrono::milliseconds duration);
/// One line of foreign text, redacted for people and cut.
std::string line_for_people(std::string_view text, const Redactor& redactor);

}  // namespace sortie
