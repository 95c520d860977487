#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace CLI {
class App;
}

namespace sortie {

/// Parses the arguments and runs the command; every error becomes a message and an exit code.
int run_command_line(int argc, char** argv);

/// Runs a command.
using CommandBody = std::function<ExitCode()>;

/// The program's commands. Each add_… function of app/commands/ adds its command with its flags to
/// the parser and its body to `bodies`.
struct CommandTable {
  CLI::App& root;
  OutputStyle& style;
  std::map<const CLI::App*, CommandBody> bodies;
  std::optional<int> retryable_code{};  ///< the exit code instead of a retryable one: --exit-map
};

/// Adds a command with its one-line description and its example for --help.
CLI::App& add_command(CommandTable& table, CLI::App& parent, const std::string& name,
                      const std::string& description, const std::string& example, CommandBody body);

void add_run(CommandTable& table);
void add_exec(CommandTable& table);
void add_batch(CommandTable& table);
void add_init(CommandTable& table);
void add_land(CommandTable& table);
void add_verify(CommandTable& table);
void add_report(CommandTable& table);
void add_show(CommandTable& table);
void add_replay(CommandTable& table);
void add_policy(CommandTable& table);
void add_task(CommandTable& table);
void add_sandbox(CommandTable& table);
void add_apply_patch(CommandTable& table);
void add_schema(CommandTable& table);
void add_doctor(CommandTable& table);
void add_completion(CommandTable& table);

}  // namespace sortie
