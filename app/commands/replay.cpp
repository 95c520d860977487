#include "app/run/replay.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/command_line.h"

namespace sortie {

void add_replay(CommandTable& table) {
  auto options = std::make_shared<ReplayOptions>();
  auto tools = std::make_shared<std::string>("live");
  CLI::App& app = add_command(
      table, table.root, "replay",
      "Run again from the recorded responses, without a model, and compare.",
      "sortie replay sortie-out", [options, tools, &table] {
        options->tools = *tools == "recorded" ? ReplayTools::recorded : ReplayTools::live;
        return replay_run(*options, table.style);
      });
  app.add_option("RUN", options->run, "a run's output folder, or its transcript")->required();
  app.add_option("--tools", *tools,
                 "live runs the tools again; recorded compares what sortie itself makes of the "
                 "record, and needs neither workspace nor sandbox")
      ->check(CLI::IsMember({"live", "recorded"}))
      ->capture_default_str();
  app.add_flag("--strict", options->strict, "outputs have to be equal, too");
  app.add_option("-C,--cd", options->workspace,
                 "a folder with the run's base; default: the recorded path");
  app.add_option("--isolation", options->isolation,
                 "auto, overlay or copy; default: the recorded one");
  app.add_option("--policy", options->policy, "policy file or preset, instead of the recorded one");
  app.add_flag("--trust-policy", options->trust_policy,
               "the recorded policy may reach the network, write outside or lack the sandbox");
  app.add_option("--out", options->out, "keep what the replay leaves in this folder");
}

}  // namespace sortie
