#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// The items of the event stream (docs/events.md), made of records of the transcript. An item is an
/// object with "type" and all that the type has, but for its "id".

/// Bytes of an item's output at most: head and tail of what is longer.
inline constexpr std::size_t kMostItemOutput = 1u << 20;
/// The same without the line that says how much was left out.
inline constexpr std::size_t kMostItemText = kMostItemOutput - 256;

/// What a response said and looked for by itself: `agent_message`, `reasoning`, `web_search`.
/// @param received  one of "items" of a `model.response`, on any wire
std::vector<Json> response_items(const Json& received);

/// The item of a call that begins: `command_execution`, `file_change` or `mcp_tool_call`.
/// @param call     data of its `tool.call`
/// @param actions    of its `approval`; null where there was none, since the call is not usable
/// @param workspace  as the tools see it: the paths of a change are relative to it
Json started_item(const Json& call, const Json& actions, const std::filesystem::path& workspace);

/// Brings an item of started_item() to its end.
/// @param output  data of its `tool.output`
void complete_item(Json& item, const Json& output);

/// An item that nothing is heard of any more: the run has ended before it.
void abandon_item(Json& item);

/// A verification command: `command_execution`.
/// @param record  data of its `verification.started`
Json verification_item(const Json& record);
/// @param record  data of its `verification.completed`
void complete_verification(Json& item, const Json& record);

/// What became of a command, for its item.
/// @param exit  the record's: {"ending","code",…}
void set_exit(Json& item, const Json& exit);

/// `todo_list` of the data of a `plan.updated`.
Json todo_item(const Json& plan);

/// `error`: a warning.
Json warning_item(const std::string& message);

/// Head and tail of it.
std::string shortened_output(const std::string& output);

}  // namespace sortie
