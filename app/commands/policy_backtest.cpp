#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/commands.h"
#include "app/show/recorded_run.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "policies/file/policy_loader.h"
#include "policies/review/backtest.h"

namespace sortie {
namespace {

struct BacktestOptions {
  std::string policy;
  std::vector<std::string> runs;
};

/// 0 where nothing that was allowed would be denied, else 1.
ExitCode run_backtest(const BacktestOptions& options) {
  const Policy policy = load_policy(options.policy);
  const std::vector<RecordedRun> runs = read_recorded_runs(options.runs);
  const Backtest result = backtest(policy, runs);
  print_out(result.text());
  return result.newly_denied == 0 ? ExitCode::success : ExitCode::task_failed;
}

}  // namespace

void add_policy_backtest(CommandTable& table, CLI::App& policy) {
  auto options = std::make_shared<BacktestOptions>();
  CLI::App& app = add_command(
      table, policy, "backtest",
      "Say what a policy would have decided in these runs; 1 where it denies what was allowed.",
      "sortie policy backtest policy.yaml sortie-out",
      [options] { return run_backtest(*options); });
  app.add_option("POLICY", options->policy, "policy file or preset")->required();
  add_words(app, "RUN", options->runs, "output folders of runs").type_name("TEXT")->required();
}

}  // namespace sortie
