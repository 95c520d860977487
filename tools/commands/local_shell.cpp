#include "tools/commands/local_shell.h"

namespace sortie {

LocalShell::LocalShell(std::unique_ptr<Tool> shell)
    : shell_(std::move(shell)), spec_(shell_->spec()) {
  spec_.name = "local_shell";
  spec_.form = ToolCall::Form::local_shell;
}

}  // namespace sortie
