#pragma once

#include <filesystem>

#include "core/config/fields.h"
#include "core/task/task_draft.h"

namespace sortie {

/// The table of the task file's keys, over the draft: what is read, written and said in the schema.
/// @param folder  absolute; what the paths in the file are relative to
Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder);

}  // namespace sortie
