#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/commands.h"
#include "app/show/recorded_run.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "policies/review/learn.h"

namespace sortie {

void add_policy_learn(CommandTable& table, CLI::App& policy) {
  auto runs = std::make_shared<std::vector<std::string>>();
  CLI::App& app =
      add_command(table, policy, "learn",
                  "Print the smallest allow rules that these runs would have needed beyond strict.",
                  "sortie policy learn sortie-out > learned.yaml", [runs] {
                    const std::string text = learned_policy(read_recorded_runs(*runs));
                    print_document(text);
                    return ExitCode::success;
                  });
  add_words(app, "RUN", *runs, "output folders of runs, best of the approval mode audit")
      .type_name("TEXT")
      ->required();
}

}  // namespace sortie
