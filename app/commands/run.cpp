#include "app/run/told_run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/run_flags.h"
#include "app/commands/task_argument.h"
#include "app/show/words.h"
#include "core/base/isolation.h"
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
  add_status_file(app, options.status_file);
  app.add_flag("--json", options.json, "live events on stdout, one JSON object a line");
}

void add_inputs(CLI::App& app, RunOptions& options) {
  begin_group(app, "Input");
  app.add_option("-C,--cd", options.workspace, "workspace; default: the task's, else this folder");
  add_repeatable(app, "--var", options.variables,
                 "template variable NAME=VALUE, or NAME@FILE for a file's content");
  add_repeatable(app, "--var-file", options.variable_files, "file of NAME=VALUE lines");
}

void add_attempts(CLI::App& app, RunOptions& options) {
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
                  [options, &table] {
                    settle_task_argument(*options);
                    return run_and_tell(*options, table.style);
                  });
  add_task_argument(app, *options);
  add_inputs(app, *options);
  add_policy_options(app, *options);
  add_expected(app, *options);
  add_model(app, *options);
  add_outputs(app, *options);
  add_limits(app, *options);
  add_attempts(app, *options);
  begin_group(app, "Running it again");
  app.add_flag("--fresh", options->fresh, "discard what an earlier run left in --out");
  app.add_option_function<std::string>(
         "--reuse",
         [options](const std::string& word) { options->reuse = *value_named<Reuse>(word); },
         "which finished runs of the same inputs are returned instead of run again: " +
             names_for_help<Reuse>() + "; default: success")
      ->check(CLI::IsMember(flag_values<Reuse>()));
  // Given by `sortie batch` alone, so that no run sees the others.
  app.add_option("--batch-folder", options->batch_folder, "the folder of the batch")->group("");
  add_exit_map(app, table.retryable_code);
  add_debugging(app, *options);
}

}  // namespace sortie
