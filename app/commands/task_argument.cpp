#include "app/commands/task_argument.h"

#include <CLI/CLI.hpp>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {

void add_task_argument(CLI::App& app, RunOptions& options) {
  app.add_option("TASK", options.task, "task file, or - for stdin");
  app.add_option("-p,--prompt", options.prompt,
                 "a prompt instead of a task file, or - for stdin; it may change files or none")
      ->group("Input");
}

void settle_task_argument(RunOptions& options) {
  if (options.prompt && !options.task.empty())
    throw InputError("TASK " + in_quotes(options.task) + " and --prompt: give one of them");
  if (!options.prompt && options.task.empty())
    throw InputError("TASK is required, or --prompt PROMPT in its place");
  if (options.prompt) options.task = "-";
}

}  // namespace sortie
