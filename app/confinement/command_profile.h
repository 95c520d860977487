#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/mount_plan.h"
#include "policies/environment/command_path.h"
#include "policies/environment/environment.h"
#include "policies/environment/toolchains.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// What confines the commands of a policy in a workspace, apart from any task.
struct ConfinementInputs {
  const Policy& policy;
  Approval approval = Approval::deny_by_default;
  std::filesystem::path workspace;                     ///< absolute, links resolved
  std::filesystem::path out;                           ///< --out, absolute; "" for none
  std::vector<std::filesystem::path> protected_files;  ///< absolute: the task and what it names
  MountPlan mount;
  bool namespaces = true;                ///< what namespaces_available() said
  std::string no_namespaces;             ///< why not, where it said so
  std::filesystem::path private_folder;  ///< empty folder for HOME and temporary files where
                                         ///< there are no namespaces to keep the machine's away
  std::filesystem::path outputs{};       ///< where outputs stand whole, shown to commands
                                         ///< read-only; "" for nowhere
  /// The tree as it was, for script rules, and outlives the confinement; null: they judge by words
  /// alone.
  const Files* start = nullptr;
};

/// The profile of its commands, without what git and the caller's own tools add.
/// @param own       this process's environment
/// @param warnings  hear of trees that are too large to look for all that is to be hidden
SandboxProfile make_profile(const ConfinementInputs& inputs, const Environment& own,
                            std::vector<std::string>& warnings);

/// Adds what of the caller's own tools the run gets to see, and hides what opens doors with it.
Toolchains show_toolchains(const ConfinementInputs& inputs, const Environment& own,
                           SandboxProfile& profile);

/// Hides services of the machine that listen in a folder which commands are shown: a read-only
/// mount keeps nobody from connecting. Found among the first entries only, so that no tree holds up
/// the start; that there are more is told.
void hide_sockets(SandboxProfile& profile, const std::vector<std::filesystem::path>& folders,
                  std::vector<std::string>& warnings);

/// The PATH of the run's commands: folders of the workspace as commands name them.
/// @param profile  with its workspace, its HOME, and what is readable, writable and a toolchain
CommandPath tool_path(const ConfinementInputs& inputs, const Environment& own,
                      const SandboxProfile& profile);

/// The PATH that commands would get, without anything being set up.
/// @param inputs  with namespaces
CommandPath path_of_commands(const ConfinementInputs& inputs, const Environment& own);

}  // namespace sortie
