#include "app/batch/batch.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/batch/batch_list.h"
#include "app/batch/batch_options.h"
#include "app/batch/merge.h"
#include "app/commands/command_line.h"
#include "app/commands/run_flags.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::int64_t kMostJobs = 1024;
constexpr std::int64_t kMostTokens = 1'000'000'000'000'000;

CLI::Validator number_or_auto() {
  const CLI::Validator number = whole_number(kMostJobs);
  return CLI::Validator(
      [number](std::string& word) -> std::string {
        if (word == "auto") return "";
        std::string problem = number(word);
        return problem.empty() ? "" : problem + "; or auto";
      },
      "");
}

void add_batch_flags(CLI::App& app, BatchOptions& options, CommandTable& table) {
  app.add_option("--out", options.out,
                 std::string("output folder; default: the manifest's, else ") + kBatchOut);
  app.add_option("--jobs", options.jobs,
                 "runs at the same time; auto: by cores and free memory; default: the manifest's, "
                 "else auto")
      ->check(number_or_auto());
  app.add_option(
      "--shard", options.shard,
      "run the i-th of n parts: i/n, from 1; auto: by the variables of Slurm, GitLab, "
      "Buildkite, CircleCI, Azure, AWS Batch; auto/n: the count is n, as for Kubernetes, "
      "unless SORTIE_SHARDS has it");
  app.add_flag("--keep-going", options.keep_going, "start further runs after one has failed");
  app.add_flag("--dry-run,--list", options.dry_run, "print the runs, and start none");
  app.add_flag("--fresh", options.fresh, "discard what earlier starts left of the runs");
  app.add_flag("--json", options.json, "events on stdout, one JSON object a line");
  begin_group(app, "Limits");
  app.add_option("--max-cost", options.run.max_cost, "maximum cost of all runs together, in USD")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--max-tokens", options.run.max_tokens,
                 "maximum number of uncached input and output tokens of all runs together")
      ->check(whole_number(kMostTokens));
  begin_group(app, "Passed on to each run");
  app.add_option("--policy", options.run.policy,
                 "policy file or preset, instead of the manifest's and the tasks'");
  app.add_option("--isolation", options.run.isolation, "as for run");
  add_repeatable(app, "--var", options.run.variables,
                 "template variable NAME=VALUE, or NAME@FILE, of the tasks that declare it");
  add_model(app, options.run);
  begin_group(app, "Other outputs");
  add_status_file(app, options.status_file);
  add_exit_map(app, table.retryable_code);
}

void add_batch_report(CommandTable& table, CLI::App& batch) {
  auto options = std::make_shared<BatchReportOptions>();
  CLI::App& app =
      add_command(table, batch, "report",
                  "Put the results of all shards together; runs that are missing are failures.",
                  "sortie batch report shard-*/sortie-batch --out merged",
                  [options, &table] { return merge_batches(*options, table.style); });
  add_words(app, "DIR", options->folders, "output folders of the batch's shards")
      .type_name("TEXT")
      ->required();
  app.add_option("--out", options->out, "where the merged files go; default: the first DIR");
  app.add_flag("--json", options->json, "print the merged results on stdout, one a line");
}

}  // namespace

void add_batch(CommandTable& table) {
  auto options = std::make_shared<BatchOptions>();
  CLI::App& app = add_command(
      table, table.root, "batch", "Run many tasks, in parallel and in shards.",
      "sortie batch manifest.yaml --jobs 8 --out sortie-batch", [options, &table] {
        if (options->manifest.empty())
          throw InputError("MANIFEST is missing: the batch's YAML file");
        return options->dry_run ? list_batch(*options) : run_batch(*options, table.style);
      });
  app.add_option("MANIFEST", options->manifest, "the batch: a YAML file");
  add_batch_flags(app, *options, table);
  add_batch_report(table, app);
}

}  // namespace sortie
