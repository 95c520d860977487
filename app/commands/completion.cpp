#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/commands/command_line.h"
#include "app/commands/completion_script.h"
#include "app/show/standard_output.h"

namespace sortie {

void add_completion(CommandTable& table) {
  auto shell = std::make_shared<std::string>();
  CLI::App& app = add_command(
      table, table.root, "completion",
      "Print the completion of this command line for a shell: commands, flags and their values.",
      "source <(sortie completion bash)", [shell, &table] {
        const auto commands = completed_commands(table.root);
        print_out(*shell == "bash"  ? bash_completion(commands)
                  : *shell == "zsh" ? zsh_completion(commands)
                                    : fish_completion(commands));
        return ExitCode::success;
      });
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace sortie
