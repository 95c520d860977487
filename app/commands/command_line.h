#pragma once

namespace sortie {

/// Parses the arguments and runs the command; every error becomes a message and an exit code.
int run_command_line(int argc, char** argv);

}  // namespace sortie
