#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/confinement/git_view.h"
#include "core/files/files.h"
#include "core/workspace/mount_plan.h"
#include "core/workspace/work_times.h"
#include "policies/environment/command_path.h"
#include "policies/environment/environment.h"
#include "policies/environment/toolchains.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/profile.h"

namespace sortie {

class EarlyKeeper;

/// What the confinement of commands depends on, apart from the task.
struct ConfinementInputs {
  const Policy& policy;
  Approval approval = Approval::deny_by_default;
  std::filesystem::path workspace;  ///< absolute, links resolved
  std::filesystem::path out;        ///< --out, absolute; "" for none
  std::vector<std::filesystem::path>
      protected_files;  ///< absolute: the task and the files that it names
  MountPlan mount;
  bool namespaces = true;                ///< from namespaces_available()
  std::string no_namespaces;             ///< why there are none
  std::filesystem::path private_folder;  ///< empty folder for HOME and temporary files where
                                         ///< there are no namespaces to keep the machine's away
  std::filesystem::path outputs{};       ///< the folder of saved outputs, read-only for
                                         ///< commands; "" for none
  /// Folders of other runs, absolute: kept from commands as --out is. They need not exist.
  std::vector<std::filesystem::path> covered{};
  /// Folders that sortie writes to by their paths (SandboxProfile::pinned).
  std::vector<std::filesystem::path> pinned{};
  /// The tree at the start, for script rules; outlives the confinement. Null: words alone decide.
  const Files* start = nullptr;
  /// Told when commands and tools work; outlives the confinement. Null for a tree of the run's own.
  WorkTimes* times = nullptr;
  /// Called with the keeper's id while it builds the view, as by Keeper::Keeper().
  std::function<void(int keeper)> started{};
  EarlyKeeper* early_keeper = nullptr;     ///< as for Keeper::Keeper()
  EarlyGitView* early_git_view = nullptr;  ///< null: it is looked for
};

/// Paths and globs of what commands must not change, relative to the workspace.
std::vector<std::string> protect_globs(const ConfinementInputs& inputs);

/// @param protect  protect_globs()
/// @param home     the commands'
GitViewInputs git_view_inputs(const ConfinementInputs& inputs,
                              const std::vector<std::string>& protect,
                              const std::filesystem::path& home);

/// The profile of the commands, without the additions for git and the caller's own tools.
/// @param own       this process's environment
/// @param warnings  get an entry for each tree that is too large to search for what to hide
SandboxProfile make_profile(const ConfinementInputs& inputs, const Environment& own,
                            std::vector<std::string>& warnings);

/// Shows the caller's toolchains to the run, and hides the credentials in them.
Toolchains show_toolchains(const ConfinementInputs& inputs, const Environment& own,
                           SandboxProfile& profile);

/// Hides sockets of the machine's services in folders that commands see: a read-only mount does not
/// prevent connecting. A folder with more than a few hundred entries is shown without its sockets
/// instead of being searched. Where that can't be done, adds a warning if it has more entries than
/// are searched.
void hide_sockets(SandboxProfile& profile, const std::vector<std::filesystem::path>& folders,
                  std::vector<std::string>& warnings);

/// The PATH of the run's commands, with folders of the workspace as commands see them.
/// @param profile  with its workspace, HOME, readable and writable paths, and toolchains
CommandPath tool_path(const ConfinementInputs& inputs, const Environment& own,
                      const SandboxProfile& profile);

/// The PATH that commands would get; sets nothing up.
/// @param inputs  with namespaces
CommandPath path_of_commands(const ConfinementInputs& inputs, const Environment& own);

}  // namespace sortie
