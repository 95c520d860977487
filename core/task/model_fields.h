#pragma once

#include <filesystem>

#include "core/config/fields.h"
#include "core/task/task.h"

namespace sortie {

/// The task's `model`.
/// @param folder  absolute; what the paths in the file are relative to
FieldValue model_value(TaskModel& model, const std::filesystem::path& folder);

}  // namespace sortie
