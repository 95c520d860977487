#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace sortie {

/// A template variable of a task.
struct TaskVariable {
  std::string default_value;
  bool has_default = false;
  std::string environment;  ///< variable it may come from; "" for none
  bool required = false;
  bool trusted = false;  ///< its value is put in bare, without <untrusted>
};

struct TaskWorkspace {
  std::filesystem::path path = ".";       ///< absolute where the file names one, else "."
  std::string isolation = "auto";         ///< auto | overlay | copy
  std::uint64_t copy_limit = 2ull << 30;  ///< bytes
  std::vector<std::string> project_docs = {"AGENTS.md"};
  std::uint64_t project_docs_max_bytes = 32u << 10;
};

struct TaskModel {
  std::string provider = "openai";  ///< openai | replay
  std::string name = "gpt-5-codex";
  std::string effort = "medium";   ///< minimal | low | medium | high
  std::string base_url;            ///< "" is the provider's own
  std::string api_key_env;         ///< "" is the provider's own
  std::filesystem::path cassette;  ///< provider replay; absolute after loading
  std::int64_t max_output_tokens = 32768;
  std::optional<double> temperature;
  std::chrono::milliseconds connect_timeout{std::chrono::seconds(10)};
  std::chrono::milliseconds first_event_timeout{std::chrono::seconds(120)};
  std::chrono::milliseconds idle_timeout{std::chrono::seconds(300)};
  std::chrono::milliseconds total_timeout{std::chrono::minutes(15)};
  int retries = 5;
  std::map<std::string, std::string> headers;
};

struct VerifyCommand {
  std::vector<std::string> argv;  ///< a string in the file became {"sh", "-c", string}
  std::string text;               ///< as written, for people
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
};

struct TaskVerify {
  std::vector<VerifyCommand> commands;  ///< empty: no verification
  std::string before = "any";           ///< any | fail | pass
  int rounds = 3;
};

struct TaskExpect {
  std::string changes = "auto";  ///< auto | required | forbidden | any
};

struct TaskBudget {
  int turns = 200;
  int tool_calls = 1000;
  std::int64_t tokens = 2000000;  ///< uncached input + output
  std::chrono::milliseconds time{std::chrono::minutes(60)};
};

struct TaskOutput {
  int context_lines = 3;
  bool renames = true;
  std::string base = "auto";         ///< auto | start | head
  std::vector<std::string> include;  ///< ignored paths that belong into the diff
};

/// What a task file says, with every default filled in.
struct Task {
  std::filesystem::path file;  ///< absolute; empty for stdin
  std::string digest;          ///< "sha256:…" of the effective task
  /// Where the file gives a value, by its dotted key: "model.name" → "task.yaml:5:9".
  std::map<std::string, std::string> places;
  std::string name;
  std::string prompt;  ///< variables not yet replaced
  std::string instructions;
  std::string policy;  ///< file (absolute) or preset name; "" where not given
  std::map<std::string, TaskVariable> vars;
  TaskWorkspace workspace;
  TaskModel model;
  std::vector<std::string> tools;  ///< empty: the defaults
  TaskVerify verify;
  TaskExpect expect;
  TaskBudget budget;
  std::uint64_t shown_output = 10u << 10;  ///< context.shown_output, bytes
  TaskOutput output;
};

/// Reads a task file; relative paths in it are relative to the file's folder.
/// @param path  "-" reads `stdin_text` instead
/// @throws InputError  all findings at once, each with FILE:LINE:COLUMN, the line and a caret
Task load_task(const std::string& path, const std::string& stdin_text = {});

/// The effective task with every default, as JSON: what `task check` prints and the digest covers.
Json task_json(const Task& task);

/// "sha256:…" of the effective task without its budget: once more after flags changed the task.
std::string task_digest(const Task& task);

/// JSON Schema (draft 2020-12) of the task file, from the loader's own table.
Json task_schema();

}  // namespace sortie
