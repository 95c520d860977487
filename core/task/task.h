#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/base/model_price.h"
#include "core/images/image_file.h"
#include "core/json/json.h"
#include "core/task/function.h"
#include "core/task/mcp_server.h"

namespace sortie {

/// A template variable of a task.
struct TaskVariable {
  std::string default_value;
  bool has_default = false;
  std::string environment;  ///< variable it may come from; "" for none
  bool required = false;
  bool trusted = false;  ///< its value is put in bare, without <untrusted>
};

/// A file that is attached to the first message, as it was when the task was loaded.
struct TaskImage {
  std::filesystem::path path;  ///< absolute
  ImageHeader header;
  std::string content;
};

struct TaskWorkspace {
  std::filesystem::path path = ".";       ///< absolute where the file names one, else "."
  Isolation isolation = Isolation::automatic;
  std::uint64_t copy_limit = 2ull << 30;  ///< bytes
  std::vector<std::string> project_docs = {"AGENTS.md"};
  std::uint64_t project_docs_max_bytes = 32u << 10;
};

struct TaskModel {
  /// openai | openai-chat | anthropic | azure | local | replay
  std::string provider = "openai";
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
  std::optional<std::int64_t> context_window;  ///< tokens; else what sortie knows of the model
  std::optional<ModelPrice> price;             ///< else what sortie knows of the model
  std::vector<TaskModel> fallback;             ///< next in turn; these have none of their own
  bool pin = false;                            ///< the served model has to be the one asked for
  bool legacy_functions = false;               ///< Chat Completions' older form of tool calls
};

/// One prompt of a chain, or the verification in between.
struct TaskStage {
  std::string name;
  std::string prompt;              ///< variables not yet replaced
  bool verify = false;             ///< runs `verify` here rather than at the end; has no prompt
  std::vector<std::string> tools;  ///< empty: those of the run
  std::string sandbox;             ///< "read-only" | "workspace-write"; "" is the policy's
  std::optional<int> max_turns;
  std::string save;   ///< file name in --out for the stage's last message; "" for none
  std::string place;  ///< "task.yaml:5:5": for what is found later
};

/// What is looked for in each response before its calls are run.
struct TaskChecks {
  std::string missing_paths = "off";     ///< off | warn | correct
  std::string dangerous_words = "warn";  ///< off | warn | correct
  std::string repetition = "stop";       ///< off | stop
};

struct TaskContext {
  double compact_at = 0.8;  ///< share of the context window
  int keep_last_turns = 4;
  std::uint64_t shown_output = 10u << 10;  ///< bytes of one tool output that the model sees
  std::string carry_over;                  ///< file name in --out's parent; "" for none
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
  std::vector<std::string> may_change;  ///< products that they may write anew: git's own patterns
};

struct TaskExpect {
  std::string changes = "auto";  ///< auto | required | forbidden | any
};

struct TaskBudget {
  int turns = 200;
  int tool_calls = 1000;
  std::int64_t tokens = 2000000;  ///< uncached input + output
  double cost = 5.0;              ///< USD; governs only where the price is known
  bool cost_given = false;        ///< by task or flag: an unknown price is an error then
  std::chrono::milliseconds time{std::chrono::minutes(60)};
};

struct TaskOutput {
  int context_lines = 3;
  bool renames = true;
  std::string base = "auto";          ///< auto | start | head
  std::vector<std::string> include;   ///< ignored paths that belong into the diff
  std::filesystem::path schema_file;  ///< absolute; "" for none
  std::optional<Json> schema;         ///< what it holds
};

/// Where a prompt's placeholder stands. Lines and columns count from 1.
struct PlaceholderUse {
  std::string file;  ///< as the user or the task names it
  int line = 0;
  int column = 0;
};

/// What a task file says, with every default filled in.
struct Task {
  std::filesystem::path file;  ///< absolute; empty for stdin
  std::string digest;          ///< "sha256:…" of the effective task
  /// Where the file gives a value, by its dotted key: "model.name" → "task.yaml:5:9".
  std::map<std::string, std::string> places;
  /// Where the prompts use a variable first, by its name.
  std::map<std::string, PlaceholderUse> uses;
  std::string name;
  std::string prompt;             ///< variables not yet replaced; "" where there are stages
  std::vector<TaskImage> images;  ///< attached to the first message
  std::string instructions;
  bool instructions_replace = false;  ///< instead of sortie's own
  std::string policy;                 ///< file (absolute) or preset name; "" where not given
  std::map<std::string, TaskVariable> vars;
  TaskWorkspace workspace;
  TaskModel model;
  std::vector<std::string> tools;                   ///< empty: the defaults
  std::filesystem::path functions_file;             ///< absolute; "" for none
  std::vector<std::filesystem::path> prompt_files;  ///< absolute
  std::vector<TaskFunction> functions;              ///< what it holds
  std::vector<TaskMcpServer> mcp;                   ///< in the file's order
  std::vector<TaskStage> stages;                    ///< empty: one prompt
  TaskVerify verify;
  TaskChecks checks;
  TaskExpect expect;
  TaskBudget budget;
  TaskContext context;
  TaskOutput output;
};

}  // namespace sortie
