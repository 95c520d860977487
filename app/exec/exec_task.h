#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/exec/exec_options.h"
#include "app/exec/exec_settings.h"
#include "app/inputs/thread_run.h"

namespace sortie {

/// The task of a prompt: no verification, no expectation.
/// @throws InputError  an image or the schema can't be used
Task exec_task(const ExecOptions& options, const ExecSettings& settings, const std::string& prompt);

/// Sets the model: its name and key in the task, its provider and address as flags of the run.
/// @throws InputError  a provider that is not configured
void choose_model(const ExecSettings& settings, ExecOptions& options, Task& task);

/// The sandbox that flags and configuration ask for: "read-only", "workspace-write" or
/// "danger-full-access".
std::string sandbox_of(const ExecOptions& options, const ExecSettings& settings);

/// Whether commands have a folder of this name for themselves, which no --add-dir can replace.
bool is_own_to_commands(const std::string& folder);

/// The policy: `auto` with the sandbox of -s, or `unsandboxed`; that of --policy as it is.
/// @param options, task  with their model
/// @throws InputError
Policy exec_policy(const ExecOptions& options, const ExecSettings& settings, const Task& task);

}  // namespace sortie
