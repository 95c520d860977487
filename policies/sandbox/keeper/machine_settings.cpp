#include "policies/sandbox/keeper/machine_settings.h"

#include <unistd.h>

#include <fstream>

#include "core/text/text.h"

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

/// The kinds of namespaces of which not one may be made, by user.max_KIND_namespaces (namespaces(7)).
std::vector<std::string> kinds_without_room() {
  std::vector<std::string> kinds;
  for (const char* kind : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"})
    if (line_of(("/proc/sys/user/max_" + std::string(kind) + "_namespaces").c_str()) == "0")
      kinds.emplace_back(kind);
  return kinds;
}

}  // namespace

MachineSettings read_machine_settings() {
  return {.restricts_user_namespaces =
              line_of("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
          .no_more_of = kinds_without_room(),
          .unprivileged_user_namespaces = line_of("/proc/sys/kernel/unprivileged_userns_clone"),
          .filtered = is_filtered(),
          .root = ::geteuid() == 0};
}

std::string remedy_for_namespaces(const MachineSettings& machine) {
  if (!machine.no_more_of.empty())
    return "sysctl -w " +
           joined(machine.no_more_of, " ",
                  [](const auto& kind) { return "user.max_" + kind + "_namespaces=10000"; }) +
           " (as the machine's administrator)";
  if (machine.unprivileged_user_namespaces == "0" && !machine.root)
    return "sysctl -w kernel.unprivileged_userns_clone=1 (as the machine's administrator)";
  if (machine.restricts_user_namespaces == "1" && !machine.root)
    return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (as the machine's "
           "administrator), or start sortie as root";
  const std::string flags =
      machine.root ? "--cap-add SYS_ADMIN --security-opt apparmor=unconfined"
                   : "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
                     "--security-opt systempaths=unconfined";
  if (machine.filtered)
    return "start the container with " + flags +
           (machine.root ? "; if that is not enough, add --security-opt seccomp=unconfined "
                           "--security-opt systempaths=unconfined"
                         : "");
  return "allow user namespaces and mounts: in a container " + flags +
         "; on a machine see user_namespaces(7)";
}

}  // namespace sortie
