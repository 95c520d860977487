#include "app/land/land.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/command_line.h"

namespace sortie {

void add_land(CommandTable& table) {
  auto options = std::make_shared<LandOptions>();
  CLI::App& app =
      add_command(table, table.root, "land",
                  "Check a finished run by your own policy, and apply its diff to this repository.",
                  "sortie land sortie-out --policy .sortie/policy.yaml --onto main --three-way",
                  [options, &table] { return land(*options, table.style.quiet); });
  app.add_option("RUN_DIR", options->run, "the finished run's output folder")->required();
  app.add_option("--policy", options->policy,
                 "policy file or preset that judges the diff; never the run's own")
      ->capture_default_str();
  app.add_option("-C,--cd", options->folder, "a folder of the repository; default: this one");
  app.add_option("--onto", options->onto,
                 "make a commit on this branch or commit, instead of changing the work tree");
  app.add_flag("--three-way", options->three_way, "merge files that have changed meanwhile");
  app.add_option("--out", options->out,
                 "folder for commit-message.txt, change.mbox, pr.json; default: RUN_DIR");
}

}  // namespace sortie
