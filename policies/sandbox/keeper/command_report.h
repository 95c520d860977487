#pragma once

#include <string>

#include "core/base/fd.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/keeper/keeper_messages.h"

namespace sortie {

/// How a command ended by itself, as its first process told; that process is gone.
/// @param report  read end of the pipe that start_command() was given, non-blocking
/// @param name    argv[0], for a start that failed by the command's own doing
/// @param limits  named in the detail where a signal says that one was reached
CommandEnd read_command_end(const Fd& report, const std::string& name, const PolicyLimits& limits);

}  // namespace sortie
