#include "core/task/task.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/command_line.h"
#include "app/commands/task_argument.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_inputs.h"
#include "app/inputs/task_and_policy.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/agent/answer.h"
#include "core/json/json.h"
#include "core/task/task_loader.h"

namespace sortie {

void add_task(CommandTable& table) {
  CLI::App* task = table.root.add_subcommand("task", "Check a task file.");
  task->footer("Example:\n  sortie task check task.yaml");
  task->require_subcommand(1);
  auto options = std::make_shared<RunOptions>();
  auto digest_alone = std::make_shared<bool>(false);
  CLI::App& check = add_command(
      table, *task, "check",
      "Validate a task, resolve its variables, print it with every default; runs nothing.",
      "sortie task check task.yaml --var branch=main", [options, digest_alone] {
        settle_task_argument(*options);
        const RunInputs inputs = load_inputs(*options);
        if (*digest_alone) {
          print_out(inputs.digest_of_file + "\n");
          return ExitCode::success;
        }
        Task effective_task = inputs.task;
        effective_task.prompt = inputs.prompts.prompt;
        for (std::size_t i = 0; i < effective_task.stages.size(); ++i)
          effective_task.stages[i].prompt = inputs.prompts.stages[i];
        Json effective = task_json(effective_task);
        effective.set("policy", chosen_policy(options->policy, inputs.task));
        print_document(write_json_pretty(effective));
        for (const std::string& warning : inputs.warnings)
          print_error("sortie: warning: " + warning + "\n");
        if (const auto note = not_strict_note(inputs.task); !note.empty())
          print_error("sortie: " + note + "\n");
        return ExitCode::success;
      });
  add_task_argument(check, *options);
  check.add_flag("--digest", *digest_alone,
                 "print its digest alone, which 'sortie run --expect-task' takes");
  check.add_option("--policy", options->policy, "policy file or preset");
  check.add_option("-C,--cd", options->workspace, "workspace");
  add_repeatable(check, "--var", options->variables,
                 "template variable NAME=VALUE, or NAME@FILE for a file's content");
  add_repeatable(check, "--var-file", options->variable_files, "file of NAME=VALUE lines");
}

}  // namespace sortie
