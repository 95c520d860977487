#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "policies/environment/command_path.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// Of a run: which policy, in which approval mode, over which workspace.
struct ToolPathInputs {
  const Policy& policy;
  Approval approval = Approval::deny_by_default;
  std::filesystem::path workspace;  ///< as the caller names it
  std::filesystem::path out;        ///< "" for none
  std::filesystem::path home;       ///< the caller's, as the view has it
};

/// The PATH of the run's commands: folders of the workspace as commands name them.
/// @param profile  with its workspace, its HOME, and what is readable, writable and a toolchain
CommandPath tool_path(const ToolPathInputs& inputs, const Environment& own,
                      const SandboxProfile& profile);

}  // namespace sortie
