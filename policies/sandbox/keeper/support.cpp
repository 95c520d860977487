#include "policies/sandbox/keeper/support.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/files/folder_stream.h"
#include "core/files/path_below.h"
#include "core/process/process.h"
#include "policies/sandbox/keeper/keeper.h"

namespace sortie {
namespace {

SandboxProfile probe_profile() {
  SandboxProfile profile;
  profile.home = "/home";
  profile.uid = ::getuid();
  profile.gid = ::getgid();
  profile.cgroup = false;
  return profile;
}

/// Throws Error if namespaces are not available: a bind plan needs them.
std::string try_command(Keeper& keeper) {
  Command command;
  command.argv = {"/proc/self/no-such-program"};
  command.workdir = "/";
  command.timeout = std::chrono::seconds(10);
  // The layers are applied and the exec fails: no program of the machine is needed.
  const ExitStatus status = run_command(keeper.launcher(), command, [](auto) {}, {});
  return status.ending == Ending::not_started ? "" : "a command could not be started";
}

/// "" where it is read to its end.
std::string list_folder(Fd folder) {
  FolderStream open(std::move(folder));
  if (!open) return "open a folder: " + errno_text(errno);
  while (open.next() != nullptr) {
  }
  return errno == 0 ? "" : "read a folder: " + errno_text(errno);
}

/// Lists the root and the folders in it.
std::string read_top_levels(int root) {
  FolderStream top(Fd(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!top) return "read the workspace: " + errno_text(errno);
  while (const dirent* entry = top.next()) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    Fd folder(::openat(top.descriptor(), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // A folder that its owner can't read is not the overlay's fault.
    if (!folder && errno == EACCES) continue;
    if (!folder) return std::string(entry->d_name) + ": " + errno_text(errno);
    if (std::string problem = list_folder(std::move(folder)); !problem.empty()) return problem;
  }
  return "";
}

std::string write_probe(int root) {
  const std::string name = temporary_name();  // a run that goes on knows it, should this be killed
  const Fd file(::openat(root, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return "write a file: " + errno_text(errno);
  const bool written = write_all(file.get(), "probe");
  const int error = errno;
  if (::unlinkat(root, name.c_str(), 0) != 0) return "remove a file: " + errno_text(errno);
  return written ? "" : "write a file: " + errno_text(error);
}

/// An upper folder below the lower one mounts, but reading it recursively ends in ELOOP.
bool loops(const MountPlan& plan) {
  std::error_code error;
  const auto upper = std::filesystem::weakly_canonical(plan.upper, error);
  if (!is_below(upper, plan.workspace)) return false;
  return std::none_of(plan.cover.begin(), plan.cover.end(),
                      [&](const auto& folder) { return is_below(upper, plan.workspace / folder); });
}

/// The gaps of a kernel's Landlock, by its ABI (landlock(7)); "" if there are no relevant ones.
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

bool namespaces_available(std::string* why) {
  SandboxProfile profile = probe_profile();
  profile.mount.kind = MountPlan::Kind::bind;
  try {
    Keeper keeper(profile);
    const std::string problem = try_command(keeper);
    if (why != nullptr) *why = problem;
    return problem.empty();
  } catch (const Error& error) {
    if (why != nullptr) *why = error.what();
    return false;
  }
}

std::string probe_overlay(const MountPlan& plan) {
  if (loops(plan)) return "the upper folder lies inside the workspace, and is not covered";
  SandboxProfile profile = probe_profile();
  profile.mount = plan;
  try {
    Keeper keeper(profile);
    const int root = keeper.view_root().get();
    std::string problem = read_top_levels(root);
    if (problem.empty()) problem = write_probe(root);
    return problem;
  } catch (const Error& error) {
    return error.what();
  }
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
  if (machine.root) {
    remedies.push_back(
        {"user",
         "started as root: in a workspace that root owns, commands are uid 0 without capabilities, "
         "so that seteuid, chown, mknod, su and set-id programs fail, and tests that use them",
         "start sortie as an ordinary user, or give the workspace to one: root's commands run as "
         "its owner"});
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
