#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/isolation.h"
#include "core/base/spelling.h"
#include "core/catalog/cost.h"
#include "core/images/image_file.h"
#include "core/json/json.h"

namespace sortie {

/// How much a model is to reason.
enum class Effort { none, minimal, low, medium, high, xhigh, max };
template <>
inline constexpr auto kSpelling<Effort> =
    std::to_array<Spelled<Effort>>({{Effort::none, "none"},
                                    {Effort::minimal, "minimal"},
                                    {Effort::low, "low"},
                                    {Effort::medium, "medium"},
                                    {Effort::high, "high"},
                                    {Effort::xhigh, "xhigh"},
                                    {Effort::max, "max"}});

/// What a stage may do to the workspace.
enum class StageSandbox { read_only, workspace_write };
template <>
inline constexpr auto kSpelling<StageSandbox> = std::to_array<Spelled<StageSandbox>>(
    {{StageSandbox::read_only, "read-only"}, {StageSandbox::workspace_write, "workspace-write"}});

/// What to do about text of a response that a check has found.
enum class TextCheck { off, warn, correct };
template <>
inline constexpr auto kSpelling<TextCheck> = std::to_array<Spelled<TextCheck>>(
    {{TextCheck::off, "off"}, {TextCheck::warn, "warn"}, {TextCheck::correct, "correct"}});

/// What to do about a response that repeats itself over and over.
enum class RepetitionCheck { off, stop };
template <>
inline constexpr auto kSpelling<RepetitionCheck> = std::to_array<Spelled<RepetitionCheck>>(
    {{RepetitionCheck::off, "off"}, {RepetitionCheck::stop, "stop"}});

/// What the verification must do on the start state.
enum class ExpectedStart { any, fail, pass };
template <>
inline constexpr auto kSpelling<ExpectedStart> = std::to_array<Spelled<ExpectedStart>>(
    {{ExpectedStart::any, "any"}, {ExpectedStart::fail, "fail"}, {ExpectedStart::pass, "pass"}});

/// What failures of the verification are compared with.
enum class VerifyIn {
  fresh,  ///< the start state and the run's diff, in places of their own
  run,    ///< the run's own tree
};
template <>
inline constexpr auto kSpelling<VerifyIn> =
    std::to_array<Spelled<VerifyIn>>({{VerifyIn::fresh, "fresh"}, {VerifyIn::run, "run"}});

enum class VerifyBaseline { none, no_new_failures };
template <>
inline constexpr auto kSpelling<VerifyBaseline> = std::to_array<Spelled<VerifyBaseline>>(
    {{VerifyBaseline::none, "none"}, {VerifyBaseline::no_new_failures, "no-new-failures"}});

/// Whether the run must change files; `automatic`: required, but forbidden in a read-only sandbox.
enum class ExpectedChanges { automatic, required, forbidden, any };
template <>
inline constexpr auto kSpelling<ExpectedChanges> =
    std::to_array<Spelled<ExpectedChanges>>({{ExpectedChanges::automatic, "auto"},
                                             {ExpectedChanges::required, "required"},
                                             {ExpectedChanges::forbidden, "forbidden"},
                                             {ExpectedChanges::any, "any"}});

/// Which of several attempts' work is taken.
enum class Pick {
  first_passing,  ///< the first that passes; the others end then
  smallest_diff,  ///< of all that pass, the one with the fewest changed lines
};
template <>
inline constexpr auto kSpelling<Pick> = std::to_array<Spelled<Pick>>(
    {{Pick::first_passing, "first-passing"}, {Pick::smallest_diff, "smallest-diff"}});

/// A template variable of a task.
struct TaskVariable {
  std::string default_value;
  bool has_default = false;
  std::string environment;  ///< the variable it may come from; "" for none
  bool required = false;
  bool trusted = false;  ///< its value is inserted as it is, without <untrusted>
};

/// A file that is attached to the first message, as it was when the task was loaded.
struct TaskImage {
  std::filesystem::path path;  ///< absolute
  ImageHeader header;
  std::string content;
};

struct TaskWorkspace {
  std::filesystem::path path = ".";  ///< absolute if the file names one, else "."
  Isolation isolation = Isolation::automatic;
  std::uint64_t copy_limit = 2ull << 30;  ///< bytes
  std::vector<std::string> project_docs = {"AGENTS.md"};
  std::uint64_t project_docs_max_bytes = 32u << 10;
};

/// What `exec` takes from codex's configuration of a provider: no keys of a task file, and in no
/// record.
struct ProviderExtras {
  std::map<std::string, std::string> query;             ///< of each request, beside base_url's own
  std::map<std::string, std::string> secret_headers;    ///< which may carry a credential
  std::map<std::string, std::string> variable_headers;  ///< by header: an environment variable
  bool key_optional = false;                            ///< without a key it is asked all the same
};

struct TaskModel {
  /// openai | openai-chat | anthropic | azure | local | replay
  std::string provider = "openai";
  std::string name = "gpt-5-codex";
  Effort effort = Effort::medium;
  /// Of `exec`, no key of the file: "auto", "concise", "detailed" or "none".
  std::string reasoning_summary = "auto";
  std::string base_url;            ///< "": the provider's own
  std::string api_key_env;         ///< "": the provider's own
  std::filesystem::path cassette;  ///< provider replay; absolute after loading
  std::int64_t max_output_tokens = 32768;
  std::optional<double> temperature;
  std::chrono::milliseconds connect_timeout{std::chrono::seconds(10)};
  std::chrono::milliseconds first_event_timeout{std::chrono::seconds(120)};
  std::chrono::milliseconds idle_timeout{std::chrono::seconds(300)};
  std::chrono::milliseconds total_timeout{std::chrono::minutes(15)};
  int retries = 5;
  std::map<std::string, std::string> headers;
  std::optional<std::int64_t> context_window;  ///< tokens; else what sortie knows about the model
  std::optional<ModelPrice> price;             ///< else what sortie knows about the model
  std::vector<TaskModel> fallback;             ///< in their order; these have none of their own
  bool pin = false;                            ///< the served model must be the requested one
  ProviderExtras extras{};
  bool legacy_functions = false;  ///< Chat Completions' older form of tool calls
};

/// One prompt of a chain, or the verification in between.
struct TaskStage {
  std::string name;
  std::string prompt;                   ///< variables not yet replaced
  bool verify = false;                  ///< runs `verify` here instead of at the end; has no prompt
  std::vector<std::string> tools;       ///< empty: all tools of the run; kNoTools: none
  std::string tool_choice;              ///< as Task::tool_choice; "": the task's
  std::optional<StageSandbox> sandbox;  ///< else the policy's
  std::optional<int> max_turns;
  std::string save;   ///< file name in --out for the stage's last message; "" for none
  std::string place;  ///< "task.yaml:5:5", for later errors
};

/// A tool of the task's own: a program with a name, a description and arguments.
struct TaskFunction {
  enum class Input {
    none,  ///< its stdin is empty
    json,  ///< the arguments of the call, as one JSON object
  };
  enum class Output {
    text,  ///< stdout and stderr, as for a command
    json,  ///< stdout must be one JSON value
  };

  std::string name;
  std::string description;
  Json parameters;  ///< JSON Schema of an object, with `properties`
  /// The argv with its placeholders: see functions.h.
  std::vector<std::string> run;
  Input input = Input::none;
  Output output = Output::text;
  std::chrono::milliseconds timeout{0};  ///< 0: the policy's command_timeout
  bool read_only = false;                ///< runs without write access
  std::string place;                     ///< "functions.json:3:5", for later errors
};

template <>
inline constexpr auto kSpelling<TaskFunction::Input> = std::to_array<Spelled<TaskFunction::Input>>(
    {{TaskFunction::Input::none, "none"}, {TaskFunction::Input::json, "json"}});
template <>
inline constexpr auto kSpelling<TaskFunction::Output> =
    std::to_array<Spelled<TaskFunction::Output>>({{TaskFunction::Output::text, "text"},
                                                  {TaskFunction::Output::json, "json"}});

/// An MCP server (Model Context Protocol): a program, or an address.
struct TaskMcpServer {
  std::string name;
  std::vector<std::string> command;                ///< argv; empty for one with a url
  std::map<std::string, std::string> environment;  ///< of the program, in addition to PATH and HOME
  std::string url;
  std::string bearer_token_env;  ///< the variable with the token for `url`; "" for none
  std::chrono::milliseconds startup_timeout{std::chrono::seconds(10)};
  std::chrono::milliseconds tool_timeout{std::chrono::seconds(60)};
  std::vector<std::string> tools;  ///< the ones that the run gets; empty: all
  bool required = false;           ///< the run fails without it
  std::string pin;                 ///< "sha256:…" of its list of tools; "" for none
  std::string place;               ///< "task.yaml:5:5", for later errors
};

/// The checks of each response before its calls are run.
struct TaskChecks {
  TextCheck missing_paths = TextCheck::off;
  TextCheck dangerous_words = TextCheck::warn;
  RepetitionCheck repetition = RepetitionCheck::stop;
};

struct TaskContext {
  double compact_at = 0.8;  ///< share of the context window
  int keep_last_turns = 4;
  std::uint64_t shown_output = 10u << 10;  ///< bytes of one tool output that the model sees
  std::string carry_over;                  ///< file name in --out's parent; "" for none
};

struct VerifyCommand {
  std::vector<std::string> argv;  ///< a string in the file became {"sh", "-c", string}
  std::string text;  ///< for people: the string as written, or the argv as a line for a shell
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
};

struct TaskVerify {
  std::vector<VerifyCommand> commands;  ///< empty: no verification
  std::vector<VerifyCommand> setup;     ///< before them, once a round
  VerifyIn in = VerifyIn::fresh;
  std::vector<std::string> restore;  ///< verified as at the start: git patterns
  std::vector<std::string> keep;     ///< with `fresh`, taken from the run: paths and globs
  ExpectedStart before = ExpectedStart::any;
  VerifyBaseline baseline = VerifyBaseline::none;
  int rounds = 3;
  std::vector<std::string> may_change;  ///< build products that they may rewrite: git patterns
};

/// What the diff may be; nothing is limited by default.
struct ExpectedDiff {
  std::optional<std::int64_t> max_files;
  std::optional<std::int64_t> max_lines;  ///< added and deleted ones together
  std::vector<std::string> allow;         ///< git patterns; empty: all paths
  std::vector<std::string> deny;          ///< git patterns
};

struct TaskExpect {
  ExpectedChanges changes = ExpectedChanges::automatic;
  bool tool_success = true;  ///< if any tool was called, at least one call succeeded
  ExpectedDiff diff;
};

struct TaskBudget {
  int turns = 200;
  int tool_calls = 1000;
  std::int64_t tokens = 2000000;  ///< uncached input + output
  double cost = 5.0;              ///< USD; ignored if the price is unknown
  bool cost_given = false;        ///< by task or flag: then an unknown price is an error
  std::chrono::milliseconds time{std::chrono::minutes(60)};
};

/// The most attempts of one run.
inline constexpr int kMostAttempts = 16;

/// Several attempts at the task, of which one is picked.
struct TaskBestOf {
  int count = 1;     ///< 1: a run of its own, without attempts
  int parallel = 1;  ///< at the same time, at most
  Pick pick = Pick::first_passing;
};

struct TaskOutput {
  int context_lines = 3;
  bool renames = true;
  DiffBase base = DiffBase::automatic;
  std::vector<std::string> include;  ///< ignored paths that belong in the diff
  Products products = Products::leave_out;
  bool lfs = false;                     ///< takes files of git-lfs into the diff
  std::vector<std::string> submodules;  ///< paths and git patterns of those that get a diff
  std::filesystem::path schema_file;    ///< absolute; "" for none
  bool findings = false;                ///< the answer is a list of findings
  std::optional<Json> schema;           ///< what the file holds; for findings the built-in one
};

/// The place of a placeholder in a prompt. Lines and columns count from 1.
struct PlaceholderUse {
  std::string file;  ///< as the user or the task names it
  int line = 0;
  int column = 0;
};

/// A task with every default filled in.
struct Task {
  std::filesystem::path file;  ///< absolute; empty for stdin
  std::string digest;          ///< "sha256:…" of the effective task, of a run's; else ""
  /// The places of values by their dotted key: "model.name" → "task.yaml:5:9".
  std::map<std::string, std::string> places;
  /// The first use of each variable in the prompts, by its name.
  std::map<std::string, PlaceholderUse> uses;
  std::string name;
  std::string needs;              ///< versions of sortie: ">=1.0 <2"; "" for any
  std::string prompt;             ///< variables not yet replaced; "" where there are stages
  std::vector<TaskImage> images;  ///< attached to the first message
  std::string instructions;
  bool instructions_replace = false;  ///< replace sortie's own
  std::string policy;                 ///< file (absolute) or preset name; "" if not given
  std::map<std::string, TaskVariable> vars;
  TaskWorkspace workspace;
  TaskModel model;
  std::vector<std::string> tools;                   ///< empty: the defaults; kNoTools: none
  std::string tool_choice = "auto";                 ///< "auto", "none", "required", a tool's name
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
  TaskBestOf best_of;
};

}  // namespace sortie
