#pragma once

#include <string>
#include <vector>

#include "core/workspace/mount_plan.h"
#include "core/workspace/workspace_options.h"
#include "policies/sandbox/keeper/keeper.h"
#include "policies/sandbox/keeper/machine_settings.h"

namespace sortie {

/// Whether a run's namespaces and view can be made here. Performs the whole sequence in a temporary
/// child (namespaces, id maps, loopback, mounts, a command's /proc), since some systems allow the
/// namespace but not its use. Call it while single-threaded.
/// @param why  set to the step that failed and its cause; may be null
bool namespaces_available(std::string* why);

/// Tries an overlay plan in a temporary keeper: mounts it, lists the top levels, writes and
/// removes a file through it. Nothing is left in the upper folder. For
/// WorkspaceOptions::probe_overlay; call it while single-threaded.
/// @return "" if it works, else why not
std::string probe_overlay(const MountPlan& plan);

/// A part of the sandbox that this machine does not offer, or that differs for its user; the reason,
/// and how to fix it.
struct Remedy {
  std::string layer;   ///< "namespaces", "landlock", "user", "cgroup"
  std::string why;     ///< in the kernel's words, or what fails
  std::string remedy;  ///< a setting, a flag, a kernel or another user
};

/// One remedy for each layer that is missing, incomplete or different.
std::vector<Remedy> find_remedies(const SandboxLayers& layers, const std::string& no_namespaces,
                                  const MachineSettings& machine);

}  // namespace sortie
