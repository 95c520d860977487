#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/task/task.h"

namespace sortie {

/// A task while its file is read.
struct TaskDraft {
  Task task;
  std::string prompt_file;          ///< as written
  std::optional<TextPlace> prompt;  ///< where a prompt was read
  std::optional<TextPlace> prompt_file_at;
  std::optional<TextPlace> schema_at;  ///< of output.schema

  /// Where a stage's texts stand; as many as the task's stages.
  struct StagePlace {
    TextPlace stage;
    TextPlace prompt;         ///< of the prompt, or of the prompt file's name
    std::string prompt_file;  ///< as written
    std::vector<TextPlace> tools;
    TextPlace save;
  };
  std::vector<StagePlace> stages;
  std::vector<TextPlace> images;  ///< as many as the task's images
};

/// Why a run with the tools `enabled` (empty: the default ones) can't have the tool, or "".
/// @param nearest  set to the name that was probably meant, or ""
std::string tool_problem(const std::string& name, const std::vector<std::string>& enabled,
                         std::string& nearest);

/// The table of the task file's keys, over the draft.
/// @param folder  absolute; what the paths in the file are relative to
Fields task_fields(TaskDraft& draft, const std::filesystem::path& folder);

}  // namespace sortie
