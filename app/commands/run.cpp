#include "app/run/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/command_line.h"
#include "app/show/words.h"
#include "core/base/isolation.h"
#include "core/catalog/providers.h"
#include "core/task/task.h"
#include "core/text/text.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

/// For CLI11, which checks a flag's value.
template <SpelledEnum Enum>
std::vector<std::string> flag_values() {
  std::vector<std::string> names;
  for (const auto& row : kSpelling<Enum>) names.emplace_back(row.name);
  return names;
}

/// "auto, overlay or copy"
template <SpelledEnum Enum>
std::string names_for_help() {
  std::string text;
  for (const auto& row : kSpelling<Enum>) {
    const bool last = &row == &kSpelling<Enum>.back();
    text += (text.empty() ? "" : last ? " or " : ", ") + std::string(row.name);
  }
  return text;
}

constexpr std::int64_t kMostTurns = 1'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000'000;

/// A number without sign, fraction or unit, from 1 on.
CLI::Validator whole_number(std::int64_t most) {
  return CLI::Validator(
      [most](std::string& word) -> std::string {
        const bool digits = !word.empty() && std::all_of(word.begin(), word.end(), is_ascii_digit);
        const std::size_t zeros = std::min(word.find_first_not_of('0'), word.size());
        const std::string limit = std::to_string(most);
        const std::string_view number = std::string_view(word).substr(zeros);
        const bool fits =
            number.size() < limit.size() || (number.size() == limit.size() && number <= limit);
        if (digits && !number.empty() && fits) return "";
        return "expected a whole number from 1 to " + limit + ", got " + in_quotes(word);
      },
      "");
}

/// The heading of the options that are added from here on, in the help and in the man page.
void begin_group(CLI::App& app, const char* name) { app.option_defaults()->group(name); }

void add_policy_options(CLI::App& app, RunOptions& options) {
  begin_group(app, "Policy");
  app.add_option(
      "--policy", options.policy,
      "policy file or preset (strict, review, foreign, auto …); default: the task's, else strict");
  app.add_option("--approval", options.approval,
                 names_for_help<Approval>() +
                     "; looser than the policy's only if the policy says approval_override");
  app.add_option("--isolation", options.isolation,
                 names_for_help<Isolation>() + ", instead of the task's");
}

void add_outputs(CLI::App& app, RunOptions& options) {
  begin_group(app, "Output");
  app.add_option("--out", options.out, "output folder")->capture_default_str();
  app.add_option(
      "--diff", options.diff,
      "also write the diff here on success: a file, or a pipe, device or /dev/fd/N; - is stdout");
  app.add_option("-o,--output-last-message", options.last_message,
                 "also write the final message here on success, as with --diff; - is stdout");
  app.add_flag("--apply", options.apply,
               "on success write the changes into the workspace, all or none");
  app.add_option("--anchor", options.anchor,
                 "write the transcript's last hash here, a line a turn: a file (appended to), a "
                 "pipe, or the number of a descriptor");
  app.add_flag("--json", options.json, "live events on stdout, one JSON object a line");
}

void add_inputs(CLI::App& app, RunOptions& options) {
  begin_group(app, "Input");
  app.add_option("-C,--cd", options.workspace, "workspace; default: the task's, else this folder");
  add_repeatable(app, "--var", options.variables,
                 "template variable NAME=VALUE, or NAME@FILE for a file's content");
  add_repeatable(app, "--var-file", options.variable_files, "file of NAME=VALUE lines");
}

void add_model(CLI::App& app, RunOptions& options) {
  begin_group(app, "Model");
  app.add_option("-m,--model", options.model, "model, instead of the task's");
  std::string names;
  for (const ProviderInfo& provider : providers())
    names += (names.empty() ? "" : ", ") + std::string(provider.name);
  app.add_option("--provider", options.provider, names + " or replay, instead of the task's");
  app.add_option("--base-url", options.base_url,
                 "address of a compatible server, for the task's own model");
  app.add_option("--api-key-file", options.api_key_file, "read the API key from this file");
  app.add_option("--api-key-fd", options.api_key_fd, "read the API key from this descriptor");
  app.add_option(
      "--auth-file", options.auth_file,
      "sign in with ChatGPT, with this auth.json of the codex CLI; it is kept refreshed");
}

void add_debugging(CLI::App& app, RunOptions& options) {
  begin_group(app, "Debugging");
  app.add_option("--replay", options.replay, "take the model's responses from a recording");
  app.add_option("--record", options.record, "write the model's responses to a recording");
}

void add_limits(CLI::App& app, RunOptions& options) {
  begin_group(app, "Limits");
  app.add_option("--max-turns", options.max_turns, "maximum number of requests to the model")
      ->check(whole_number(kMostTurns));
  app.add_option("--max-tokens", options.max_tokens,
                 "maximum number of uncached input and output tokens")
      ->check(whole_number(kMostTokens));
  app.add_option(
      "--max-cost", options.max_cost,
      "maximum cost in USD; needs a model whose price is known, or model.price in the task");
  app.add_option("--timeout", options.timeout, "time limit of the whole run: 30s, 10m, 2h");
  app.add_option("--best-of", options.best_of,
                 "attempts, of which the best one counts, instead of the task's best_of.count; the "
                 "budget is for their sum")
      ->check(whole_number(kMostAttempts));
}

}  // namespace

void add_run(CommandTable& table) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& app =
      add_command(table, table.root, "run", "Run a task: a diff and a transcript come out.",
                  "sortie run task.yaml --policy strict --out sortie-out --diff changes.diff",
                  [options, &table] { return run_task(*options, table.style); });
  app.add_option("TASK", options->task, "task file, or - for stdin")->required();
  add_inputs(app, *options);
  add_policy_options(app, *options);
  add_model(app, *options);
  add_outputs(app, *options);
  add_limits(app, *options);
  begin_group(app, "Running it again");
  app.add_flag("--fresh", options->fresh, "discard what an earlier run left in --out");
  app.add_option_function<std::string>(
         "--reuse",
         [options](const std::string& word) { options->reuse = *value_named<Reuse>(word); },
         "which finished runs of the same inputs are returned instead of run again: " +
             names_for_help<Reuse>() + "; default: success")
      ->check(CLI::IsMember(flag_values<Reuse>()));
  add_debugging(app, *options);
}

}  // namespace sortie
