#include "policies/sandbox/keeper/remedies.h"

#include <unistd.h>

#include <fstream>

namespace sortie {
namespace {

std::string line_of(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// "Seccomp: 2" in /proc/self/status (proc(5)).
bool is_filtered() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp:")) return line.find('2') != std::string::npos;
  return false;
}

std::string remedy_for_namespaces(const MachineSettings& machine) {
  if (machine.max_user_namespaces == "0")
    return "sysctl -w user.max_user_namespaces=10000 (as the machine's administrator)";
  if (machine.unprivileged_user_namespaces == "0" && !machine.root)
    return "sysctl -w kernel.unprivileged_userns_clone=1 (as the machine's administrator)";
  if (machine.restricts_user_namespaces == "1" && !machine.root)
    return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (as the machine's "
           "administrator), or start sortie as root";
  if (machine.filtered)
    return "start the container with --security-opt seccomp=unconfined (or a profile that allows "
           "unshare, mount and clone with namespaces)" +
           std::string(machine.root ? " and --cap-add SYS_ADMIN" : "");
  return "allow user namespaces and mounts: in a container --security-opt seccomp=unconfined "
         "--security-opt apparmor=unconfined --cap-add SYS_ADMIN; on a machine see "
         "user_namespaces(7)";
}

/// What a kernel's Landlock leaves open, by its ABI (landlock(7)); "" for none of what matters
/// here.
std::string gap_of_landlock(int abi) {
  if (abi == 0) return "not in this kernel, or not among its active security modules";
  if (abi < 2) return "ABI 1: files can't be renamed or linked between folders";
  if (abi < 3) return "ABI 2: truncating a file is not covered";
  if (abi < 4) return "ABI 3: TCP is not covered";
  if (abi < 6)
    return "ABI " + std::to_string(abi) + ": abstract sockets and signals are not covered";
  return "";
}

}  // namespace

MachineSettings read_machine_settings() {
  return {.restricts_user_namespaces =
              line_of("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
          .max_user_namespaces = line_of("/proc/sys/user/max_user_namespaces"),
          .unprivileged_user_namespaces = line_of("/proc/sys/kernel/unprivileged_userns_clone"),
          .filtered = is_filtered(),
          .root = ::geteuid() == 0};
}

std::vector<Remedy> find_remedies(const SandboxLayers& layers, const std::string& no_namespaces,
                                  const MachineSettings& machine) {
  std::vector<Remedy> remedies;
  if (!no_namespaces.empty() || !layers.namespaces) {
    remedies.push_back({"namespaces", no_namespaces.empty() ? "not made" : no_namespaces,
                        remedy_for_namespaces(machine)});
  }
  if (const std::string gap = gap_of_landlock(layers.landlock_abi); !gap.empty()) {
    remedies.push_back({"landlock", gap,
                        layers.landlock_abi == 0
                            ? "Linux 5.13 or later with landlock in its lsm= list"
                            : "Linux 6.12 or later"});
  }
  for (const std::string& note : layers.notes) {
    if (!note.starts_with("cgroup: ")) continue;
    remedies.push_back({"cgroup", note.substr(8),
                        "a cgroup v2 that this user may write, with memory and pids handed down: "
                        "systemd-run --user --scope -p Delegate=yes sortie …; limits hold without "
                        "it, by sampling"});
  }
  return remedies;
}

}  // namespace sortie
