#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// What stderr says of tool calls: one line each, with its decision, how it ended and its time.
///
/// Calls may be under way side by side; each line stands when the output of its call is there, so
/// lines come in the order of the calls, and with `outputs` each stands over its own output.
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
  /// What is running now: the first of the calls, and how many there are beside it; "" for none.
  std::string under_way() const;

 private:
  /// A call that has its approval and no output yet.
  struct Call {
    std::string id;
    std::string what;                ///< "shell git status"
    std::optional<Ruling> decision;  ///< nothing: it was not decided on
    std::string note;                ///< on the decision of an allowed call
    std::string reason;              ///< of another
  };
  Call take(const ToolOutputRecord& output);
  std::string line_of(const Call& call, const ToolOutputRecord& output) const;
  std::string shown(std::string_view text) const;

  Options options_;
  const Redactor& redactor_;
  std::vector<Call> calls_;  ///< in their order
};

/// "exit 1", "signal 9", "timed_out", or how a call without a command came out.
std::string describe_exit(const std::optional<ExitStatus>& exit, bool success = true);
/// "1.3 s"
std::string seconds_text(std::chrono::milliseconds duration);
/// One line of text that came from elsewhere, redacted for people and cut.
std::string line_for_people(std::string_view text, const Redactor& redactor);

}  // namespace sortie
