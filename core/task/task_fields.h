#pragma once

#include <filesystem>
#include <vector>

#include "core/config/fields.h"
#include "core/task/task.h"
#include "core/task/task_draft.h"

namespace sortie {

/// The table of the task file's keys, over the draft: for reading, writing and the schema.
/// @param folder  absolute; paths in the file are relative to it
Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder);

/// The task's `model` (model_fields.cpp).
/// @param folder  absolute; paths in the file are relative to it
FieldValue model_value(TaskModel& model, const std::filesystem::path& folder);

/// The task's `tools.mcp`: MCP servers by name (mcp_fields.cpp).
FieldValue mcp_servers_value(std::vector<TaskMcpServer>& target);

/// The task's `stages` (stage_fields.cpp): `NAME: prompt`, the plain word `verify`, or the long form.
FieldValue stages_value(TaskDraft& draft);

/// The task's `verify` (stage_fields.cpp): a mapping, or a list of commands for short.
FieldValue verify_value(TaskVerify& verify);

}  // namespace sortie
