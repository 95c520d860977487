#pragma once

#include <filesystem>
#include <vector>

#include "core/task/task.h"
#include "policies/environment/environment.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The task and what it names, and the policy's approver: protected while the run lasts.
std::vector<std::filesystem::path> files_of_run(const Task& task, const Policy& policy);

/// HOME in the view: the caller's own path, so that tools that know it by heart find it.
/// @param own  this process's environment
std::filesystem::path view_home(const Environment& own);

/// The policy's paths.read, absolute, links resolved as far as they are there.
/// @param own  this process's environment, for "~"
std::vector<std::filesystem::path> folders_to_read(const Policy& policy,
                                                   const std::filesystem::path& workspace,
                                                   const Environment& own);

}  // namespace sortie
