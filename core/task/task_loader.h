#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// Reads a task file; relative paths in it are relative to the file's folder.
/// @param path  "-" reads `stdin_text` instead
/// @throws InputError  all findings at once, each with FILE:LINE:COLUMN, the line and a caret
Task load_task(const std::string& path, const std::string& stdin_text = {});

/// Why a file that a task names may not be read for it; "" where it may.
/// @param file  absolute, links not resolved
/// @param task  as far as it is known then: all that stands in the task file itself
using FileJudge = std::function<std::string(const std::filesystem::path& file, const Task& task)>;

/// The same, asking before each file that the task names is opened: prompts, images,
/// functions, the output's schema. Of a file that may not be read nothing is shown either.
/// @throws InputError  also what the judge throws
Task load_task(const std::string& path, const std::string& stdin_text, const FileJudge& judge);

/// JSON Schema (draft 2020-12) of the task file, from the loader's own table.
Json task_schema();

}  // namespace sortie
