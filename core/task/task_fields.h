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
  std::optional<TextPlace> schema_at{};     ///< place of output.schema
  std::string functions{};                  ///< the manifest's file as written
  std::optional<TextPlace> functions_at{};  ///< place of tools.functions
  /// The entries of tools.enable, which are checked once the manifest is read.
  std::vector<YamlNode> enabled{};
  std::optional<TextPlace> choice{};        ///< place of tools.choice
  std::optional<TextPlace> tool_success{};  ///< place of expect.tool_success

  /// The places of a stage's texts; one for each stage of the task.
  struct StagePlace {
    TextPlace stage;
    TextPlace prompt;         ///< of the prompt or of the prompt file's name
    std::string prompt_file;  ///< as written
    std::vector<TextPlace> tools;
    TextPlace choice;
    TextPlace save;
  };
  std::vector<StagePlace> stages{};
  std::vector<TextPlace> images{};  ///< one for each image of the task
};

/// Limits of values in several parts of a task file.
inline constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24);
inline constexpr TextLimits kVariableName = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                             .meaning = "the name of an environment variable"};

inline constexpr TextLimits kToolChoice = {.pattern = "[A-Za-z0-9_-]{1,64}",
                                           .meaning = "auto, none, required or the name of a tool"};

/// A list of tools as a file has it: kNoTools is [].
Json written_tools(const std::vector<std::string>& tools);

/// `text`, relative to the task file's folder, without "." and ".." and a slash at its end.
std::filesystem::path absolute_path(const std::filesystem::path& folder, const std::string& text);

/// A path, which becomes absolute.
FieldValue path_value(std::filesystem::path& target, const std::filesystem::path& folder);

/// null for ""
Json path_json(const std::filesystem::path& path);

/// A preset's name, which stays as it is, or a file, whose path becomes absolute.
FieldValue policy_value(std::string& target, const std::filesystem::path& folder);

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

/// The task's `verify` (verify_fields.cpp): a mapping, or a list of commands for short.
FieldValue verify_value(TaskVerify& verify);
/// git patterns; those that git reads in another way than they look are refused.
FieldValue git_patterns_value(std::vector<std::string>& target);

}  // namespace sortie
