#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/process/launcher.h"

namespace sortie {

/// A program of the operator that runs outside the sandbox: an approver.
struct OperatorProgram {
  std::vector<std::string> argv;                   ///< argv[0]: an absolute path
  std::filesystem::path workdir;                   ///< absolute
  std::map<std::string, std::string> environment;  ///< all of it
  std::string input;                               ///< all of its stdin
  std::chrono::milliseconds timeout{std::chrono::seconds(60)};
  std::size_t max_output = 64u << 10;  ///< of stdout; more ends it
  std::size_t max_errors = 16u << 10;  ///< of stderr; more is read and dropped
};

struct OperatorProgramEnd {
  ExitStatus exit;
  std::string output;
  std::string errors;
  bool errors_cut = false;
};

/// Runs it in a session and process group of its own, with only descriptors 0, 1 and 2 and default
/// signal handling. Returns when its first process has ended, at its time limit or on a stop
/// request; the rest of its group is killed then. A descendant that keeps the pipes open is not
/// waited for. The caller must ignore SIGPIPE.
///
/// Started by posix_spawn(3), without copying this process: its size costs nothing, and none of its
/// memory is in the child.
/// @throws Error  if the system has no descriptors left
OperatorProgramEnd run_operator_program(const OperatorProgram& program, std::stop_token stop);

}  // namespace sortie
