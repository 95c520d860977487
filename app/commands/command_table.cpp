#include "app/commands/command_table.h"

#include <CLI/CLI.hpp>

namespace sortie {

CLI::App& add_command(CommandTable& table, CLI::App& parent, const std::string& name,
                      const std::string& description, const std::string& example,
                      CommandBody body) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->footer("Example:\n  " + example);
  table.bodies[app] = std::move(body);
  return *app;
}

}  // namespace sortie
