#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/task/task.h"

namespace sortie {

/// A task while its file is read.
struct TaskDraft {
  Task task{};
  std::string prompt_file{};          ///< as written
  std::optional<TextPlace> prompt{};  ///< where a prompt was read
  std::optional<TextPlace> prompt_file_at{};
  std::optional<TextPlace> schema_at{};     ///< of output.schema
  std::string functions{};                  ///< the manifest's file as written
  std::optional<TextPlace> functions_at{};  ///< of tools.functions
  /// Of tools.enable: which tools there are is known once the manifest is.
  std::vector<YamlNode> enabled{};

  /// Where a stage's texts stand; as many as the task's stages.
  struct StagePlace {
    TextPlace stage;
    TextPlace prompt;         ///< of the prompt, or of the prompt file's name
    std::string prompt_file;  ///< as written
    std::vector<TextPlace> tools;
    TextPlace save;
  };
  std::vector<StagePlace> stages{};
  std::vector<TextPlace> images{};  ///< as many as the task's images
};

/// What several parts of a task file hold a value to.
inline constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24);
inline constexpr TextLimits kVariableName = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                             .meaning = "the name of an environment variable"};

/// `text`, relative to the task file's folder, without "." and ".." and a slash at its end.
std::filesystem::path absolute_path(const std::filesystem::path& folder, const std::string& text);

/// A path, absolute after loading.
FieldValue path_value(std::filesystem::path& target, const std::filesystem::path& folder);

/// null for ""
Json path_json(const std::filesystem::path& path);

}  // namespace sortie
