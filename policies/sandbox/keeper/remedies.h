#pragma once

#include <string>
#include <vector>

#include "policies/sandbox/keeper/keeper.h"

namespace sortie {

/// What of the sandbox is not to be had here, why, and what would change that.
struct Remedy {
  std::string layer;   ///< "namespaces", "landlock", "cgroup"
  std::string why;     ///< in the kernel's words
  std::string remedy;  ///< a setting, a flag or a kernel
};

/// What the kernel and its settings say about user namespaces and containers; read once.
struct MachineSettings {
  std::string
      restricts_user_namespaces;    ///< kernel.apparmor_restrict_unprivileged_userns; "": none
  std::string max_user_namespaces;  ///< user.max_user_namespaces
  std::string unprivileged_user_namespaces;  ///< kernel.unprivileged_userns_clone; "": none
  bool filtered = false;  ///< this process is behind a seccomp filter already, as in a container
  bool root = false;
};
MachineSettings read_machine_settings();

/// One remedy for each layer that is missing or not whole; empty where nothing is.
std::vector<Remedy> find_remedies(const SandboxLayers& layers, const std::string& no_namespaces,
                                  const MachineSettings& machine);

}  // namespace sortie
