#pragma once

#include <string>

#include "app/inputs/start_problems.h"
#include "app/inputs/task_and_policy.h"
#include "core/json/json.h"
#include "policies/environment/command_path.h"

namespace sortie {

/// What a task needs of this machine: its model's key and address, the programs of its verification.
/// An object with `file`, `policy`, `verification` (each command with its programs, those that are missing, and what was
/// not looked at), `problems` (a run of it would fail) and `notes`.
/// @param policy  its name
/// @param path    of commands
Json task_report(const LoadedTask& loaded, const std::string& policy, const CommandPath& path,
                 const StartProblems& start);

/// The same in lines for people.
std::string task_report_text(const Json& report);

}  // namespace sortie
