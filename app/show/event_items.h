#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/model.h"
#include "core/model/wire.h"
#include "core/record/call_events.h"
#include "core/record/workspace_events.h"

namespace sortie {

/// Makes the items of the event stream (docs/events.md) from events. An item is an object with "type"
/// and all members of that type, except "id".

/// Bytes of an item's output at most: head and tail of what is longer.
inline constexpr std::size_t kMostItemOutput = 1u << 20;
/// The same without the line that says how much was left out.
inline constexpr std::size_t kMostItemText = kMostItemOutput - 256;

/// The model's own text or search: `agent_message`, `reasoning`, `web_search`.
Json said_item(const Said& said);

/// The item of a call that begins: `command_execution`, `file_change` or `mcp_tool_call`.
/// @param actions    from its approval; none if the call is not usable
/// @param workspace  as the tools see it: the paths of a change are relative to it
Json started_item(const ToolCalled& called, const std::vector<RecordedAction>& actions,
                  const std::filesystem::path& workspace);

/// The lines that a call's patch adds and removes; none for a call without a valid patch.
struct PatchLines {
  std::int64_t added = 0;
  std::int64_t removed = 0;
};
PatchLines patch_lines(const ToolCalled& called, const std::filesystem::path& workspace);

/// Brings an item of started_item() to its end.
void complete_item(Json& item, const ToolOutputRecord& output);

/// Ends an item that was not completed before the end of the run.
void abandon_item(Json& item);

/// A verification command: `command_execution`.
Json verification_item(const VerificationRecord& record);
/// @param output  the record's, redacted for people
void complete_verification(Json& item, const VerificationCompleted& record,
                           const std::string& output);

/// Sets the result of a command in its item.
void set_exit(Json& item, const ExitStatus& exit);

/// `todo_list`
Json todo_item(const PlanUpdated& plan);

/// `error`: a warning.
Json warning_item(const std::string& message);

/// What the model that takes over does not get: "1 image and 2 items of reasoning or
/// search"; "" for nothing.
std::string left_out_text(const FallbackRecord& record);

/// The head and tail of a long output.
std::string shortened_output(const std::string& output);

}  // namespace sortie
