#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/said.h"
#include "core/record/events.h"

namespace sortie {

/// The items of the event stream (docs/events.md), made of its events. An item is an
/// object with "type" and all that the type has, but for its "id".

/// Bytes of an item's output at most: head and tail of what is longer.
inline constexpr std::size_t kMostItemOutput = 1u << 20;
/// The same without the line that says how much was left out.
inline constexpr std::size_t kMostItemText = kMostItemOutput - 256;

/// What a response said or looked for by itself: `agent_message`, `reasoning`, `web_search`.
Json said_item(const Said& said);

/// The item of a call that begins: `command_execution`, `file_change` or `mcp_tool_call`.
/// @param actions    of its approval; none where there was none, since the call is not usable
/// @param workspace  as the tools see it: the paths of a change are relative to it
Json started_item(const ToolCalled& called, const std::vector<RecordedAction>& actions,
                  const std::filesystem::path& workspace);

/// Brings an item of started_item() to its end.
void complete_item(Json& item, const ToolOutputRecord& output);

/// An item that nothing is heard of any more: the run has ended before it.
void abandon_item(Json& item);

/// A verification command: `command_execution`.
Json verification_item(const VerificationRecord& record);
/// @param output  the record's, redacted for people
void complete_verification(Json& item, const VerificationCompleted& record,
                           const std::string& output);

/// What became of a command, for its item.
void set_exit(Json& item, const ExitStatus& exit);

/// `todo_list`
Json todo_item(const PlanUpdated& plan);

/// `error`: a warning.
Json warning_item(const std::string& message);

/// Head and tail of it.
std::string shortened_output(const std::string& output);

}  // namespace sortie
