#pragma once

#include <string>
#include <vector>

namespace sortie {

/// The kernel's settings for namespaces and containers.
struct MachineSettings {
  /// kernel.apparmor_restrict_unprivileged_userns; "" if there is no such setting.
  std::string restricts_user_namespaces;
  /// Kinds of namespaces of which not one may be made: "user", "mnt" for user.max_mnt_namespaces = 0.
  std::vector<std::string> no_more_of;
  /// kernel.unprivileged_userns_clone; "" if there is no such setting.
  std::string unprivileged_user_namespaces;
  bool filtered = false;  ///< this process has a seccomp filter already, as in a container
  bool root = false;
};
MachineSettings read_machine_settings();

/// What lets a sandbox be made of namespaces on such a machine: a setting, or a container's flags.
std::string remedy_for_namespaces(const MachineSettings& machine);

}  // namespace sortie
