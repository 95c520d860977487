#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/record/events.h"

namespace sortie {

/// Why the run must end after a tool call, although the call has its output.
enum class CallVerdict { go_on, forbidden, too_many_denials, protected_path_changed };

/// All that became of a tool call.
struct CallRecord {
  ToolOutput output{};        ///< for the model, as long as the conversation has room for it
  ToolOutputRecord record{};  ///< for the transcript, as far as the call and `output` don't say it
  CallVerdict verdict = CallVerdict::go_on;
  std::string reason{};                    ///< for the operator, where the verdict is not go_on
  std::vector<FileChange> file_changes{};  ///< in the order in which they are told
  std::optional<PlanUpdated> plan{};
};

/// Of a call that is not run.
/// @param text     redacted
/// @param verdict  "denied", "budget", … or ""
CallRecord not_run(const ToolCall& call, std::string text, std::string verdict = {});

/// Tells that a call came: before anything becomes of it.
/// @param origin  as ToolHost::origin()
void tell_call(EventSink& events, int turn, const ToolCall& call, Json origin);

/// Tells what became of it. The record's call, tool, success and shown text are filled in first.
void tell_output(EventSink& events, int turn, const ToolCall& call, CallRecord& done);

}  // namespace sortie
