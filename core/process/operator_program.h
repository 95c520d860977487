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

/// A program of the operator's own, which is run outside the sandbox: an approver.
struct OperatorProgram {
  std::vector<std::string> argv;                   ///< argv[0]: an absolute path
  std::filesystem::path workdir;                   ///< absolute
  std::map<std::string, std::string> environment;  ///< all of it
  std::string input;                               ///< its stdin; then its end
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

/// Runs it in a session and process group of its own, with descriptors 0, 1 and 2 alone and every
/// signal as a program expects it. Returns when its first process has ended, at its time limit or
/// on a stop request; what is left of its group is killed then. A descendant that holds the pipes
/// is not waited for. Whoever calls it ignores SIGPIPE.
///
/// Starts it without copying this process (posix_spawn): its size costs nothing, and no memory of
/// ours is in the child.
/// @throws Error  where the system has no descriptors left
OperatorProgramEnd run_operator_program(const OperatorProgram& program, std::stop_token stop);

}  // namespace sortie
