#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/record/events.h"

namespace sortie {

/// Whether the run must end after a tool call.
enum class CallVerdict { go_on, forbidden, too_many_denials, protected_path_changed };

/// Everything that resulted from a tool call.
struct CallRecord {
  ToolOutput output{};  ///< for the model, before it is cut to fit the context
  ToolOutputRecord
      record{};  ///< for the transcript; members that the call and `output` say are empty
  CallVerdict verdict = CallVerdict::go_on;
  std::string reason{};                    ///< for the operator, unless the verdict is go_on
  std::vector<FileChange> file_changes{};  ///< in the order of their events
  std::optional<PlanUpdated> plan{};
};

/// The record of a call that is not run.
/// @param text     redacted
/// @param verdict  "denied", "budget", … or ""
CallRecord not_run(const ToolCall& call, std::string text, std::string verdict = {});

/// Emits `tool.call`, before the call has any effect.
/// @param origin  as ToolHost::origin()
void emit_call(EventSink& events, int turn, const ToolCall& call, Json origin);

/// Emits `tool.output` and what follows from it. Fills in the record's call, tool, success and
/// shown text first.
void emit_output(EventSink& events, int turn, const ToolCall& call, CallRecord& done);

/// A call that has been decided on: it is to be run, or has its output already.
class PendingCall {
 public:
  virtual ~PendingCall() = default;
  /// Whether the decision alone ends the run.
  virtual bool ends_run() const { return false; }
  /// Runs the call if it is allowed. May be called on any thread; finish() rethrows exceptions.
  virtual void run(std::stop_token stop) = 0;
  /// The result. Called once, on the run's thread.
  /// @throws Error  what ends the run
  virtual CallRecord finish() = 0;
};

/// The tools, as the loop sees them.
class ToolHost {
 public:
  virtual ~ToolHost() = default;
  /// In a stable order, so that requests keep their bytes.
  virtual std::vector<ToolSpec> specs() const = 0;
  /// {"server","tool"} of a tool that an MCP server offers, else null.
  virtual Json origin(const ToolCall&) const { return {}; }
  /// Whether the tool changes nothing, so that its calls may run concurrently with others like it.
  virtual bool reads_only(const ToolCall&) const { return false; }
  /// Finds the tool, decides on the call and records the decision. Never fails: calls that are
  /// invalid or denied have their output already. Host and `call` outlive the result.
  virtual std::unique_ptr<PendingCall> prepare(const ToolCall& call, int turn,
                                               std::stop_token stop) = 0;
  /// Runs calls of one response: several only if all of them read only.
  virtual void run(std::span<const std::unique_ptr<PendingCall>> calls, std::stop_token stop) {
    for (const auto& call : calls) call->run(stop);
  }
};

}  // namespace sortie
