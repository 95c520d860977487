#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/task/task.h"

namespace sortie {

/// Why a file that a task names may not be read for it; "" where it may.
/// @param file  absolute, links not resolved
/// @param task  as far as it is known then: all that stands in the task file itself
using FileJudge = std::function<std::string(const std::filesystem::path& file, const Task& task)>;

/// load_task() of task.h that asks before each file that the task names is opened: prompts, images,
/// functions, the output's schema. Of a file that may not be read nothing is shown either.
/// @throws InputError  also what the judge throws
Task load_task(const std::string& path, const std::string& stdin_text, const FileJudge& judge);

}  // namespace sortie
