#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/task/task.h"
#include "core/task/task_draft.h"

namespace sortie {

/// Why no run of the task can have the tool, as far as that is known at load; or "".
/// @param nearest  set to the name that was probably meant, or ""
std::string tool_problem(const std::string& name, const Task& task, std::string& nearest);

/// The table of the task file's keys, over the draft.
/// @param folder  absolute; what the paths in the file are relative to
Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder);

}  // namespace sortie
