#include "app/run/run_parts.h"

#include <utility>

namespace sortie {

RunParts::RunParts(RunInputs loaded, const RunOptions& flags, const OutputStyle& style,
                   GitInfo git_info, Json parts_of_key, OutputFolder& folder, Previous found,
                   const Attempt* one_of)
    : inputs(std::move(loaded)),
      options(flags),
      batch_folder(flags.batch_folder.empty() ? ""
                                              : std::filesystem::canonical(flags.batch_folder)),
      attempt(one_of),
      git(std::move(git_info)),
      key_parts(std::move(parts_of_key)),
      previous(found),
      budget(inputs.task.budget, clock, inputs.terms),
      apply(options, inputs),
      out(folder),
      notes(inputs.task, options.out),
      secrets(inputs, options),
      record({.folder = out.path(),
              .json = options.json,
              .anchor = options.anchor,
              .thread = options.thread != nullptr ? options.thread->id : "",
              .own_events = options.thread == nullptr || options.thread->own_events,
              .retries = inputs.task.model.retries,
              .style = style,
              .log = {.rounds = inputs.task.verify.rounds + 1,
                      .start_must_pass = inputs.task.verify.before == ExpectedStart::pass},
              .workspace = inputs.workspace,
              .on_stdout_failure =
                  options.thread != nullptr ? options.thread->on_stdout_failure : nullptr},
             secrets.redactor(), result) {
  if (attempt != nullptr) budget.share(*attempt->budget, attempt->number - 1);
}

void collect_secrets(RunParts& run) {
  run.secrets.collect(run.confinement ? std::optional(run.confinement->git_files()) : std::nullopt);
}

}  // namespace sortie
