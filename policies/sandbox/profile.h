#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/workspace/mount_plan.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The parts of the repository around its workspace that a run shows. All paths are absolute, links
/// resolved.
struct GitView {
  std::vector<std::filesystem::path> folders;  ///< shown read-only, so that git finds them
  std::vector<std::filesystem::path> covered;  ///< inside these, shown empty: --out
  /// Files that are shown with other content: configurations without their credentials.
  std::vector<std::pair<std::filesystem::path, std::string>> files;
  bool operator==(const GitView&) const = default;
};

/// The sandbox that the keeper builds for a run: the view and the confinement of its commands.
/// All paths are absolute with links resolved, unless noted.
struct SandboxProfile {
  SandboxMode mode = SandboxMode::workspace_write;
  NetworkMode network = NetworkMode::none;
  MountPlan mount;                              ///< the workspace
  GitView git;                                  ///< of the repository around it
  std::vector<std::filesystem::path> readable;  ///< of the machine, shown read-only
  std::vector<std::filesystem::path> writable;  ///< beyond the workspace
  /// Folders of the machine with too many files to look for sockets: shown so that no socket in them
  /// can be connected to. No other file system is mounted below them. With namespaces only.
  std::vector<std::filesystem::path> without_sockets;
  /// Folders of the machine, as the policy names them. Commands see them, and their writes there
  /// are discarded; without namespaces they are read-only.
  std::vector<std::filesystem::path> toolchains;
  bool workspace_writable = true;                 ///< paths.write has "."
  std::vector<std::string> workspace_write_only;  ///< paths.write below the workspace, without "."
  std::vector<std::string> protect;               ///< globs relative to the workspace
  std::vector<std::string> hide;                  ///< globs and paths, "~" replaced
  /// The matches of `hide` in the workspace, relative to it. Without a value the view's builder
  /// searches them.
  std::optional<std::vector<std::filesystem::path>> hidden_inside;
  /// The same for `protect`: the outermost paths, including links.
  std::optional<std::vector<std::filesystem::path>> protected_inside;
  /// Folders that sortie itself writes to at paths that it was given. Commands may write in them, but
  /// can't move them, or a folder above them, and put a link in their place.
  std::vector<std::filesystem::path> pinned;
  std::filesystem::path home;  ///< HOME, private and writable in the view
  uid_t uid = 0;               ///< the user that commands run as
  gid_t gid = 0;
  Tracing tracing = Tracing::none;
  PolicyLimits limits;
  std::uint64_t memory_bytes = 0;  ///< limits.memory resolved
  bool use_namespaces = true;      ///< false: Landlock and seccomp alone
  /// Set by the keeper: RLIMIT_NPROC counts only the run's own tasks. Otherwise it counts all tasks
  /// of the user on the machine, so that a busy user could start no command, and does not apply to
  /// root.
  bool counts_own_tasks = false;
  bool cgroup = true;  ///< limit the run by a control group if available
  /// Set by the keeper: the control group that the view shows, the run's or else sortie's own.
  std::filesystem::path shown_group{};
  bool may_escalate_writes = false;   ///< commands may come with `Command::writes`
  bool may_escalate_network = false;  ///< commands may come with `Command::open_network`
};

/// A limit of setrlimit(2) for every command.
struct ResourceLimit {
  int resource = 0;             ///< RLIMIT_…
  std::uint64_t most = 0;       ///< soft and hard
  const char* tried = nullptr;  ///< "open files": its name if the canary tests it
};

/// The limits for every command. Each row is set, and proved by the canary. Never RLIMIT_AS or
/// RLIMIT_DATA, which break sanitizers, JVMs and WebAssembly.
inline auto resource_limits(const PolicyLimits& limits) noexcept {
  return std::to_array<ResourceLimit>(
      {{RLIMIT_FSIZE, limits.file_size, "file size"},
       {RLIMIT_NOFILE, static_cast<std::uint64_t>(limits.open_files), "open files"},
       {RLIMIT_CORE, 0, "core files"},
       {RLIMIT_RTPRIO, 0}});
}

/// The kernel counts threads with the processes, and programs start dozens of them: far above the
/// limit of processes, which the keeper enforces by its own count.
inline int most_tasks(const PolicyLimits& limits) {
  return limits.processes > 0 ? std::max(1024, limits.processes * 8) : 0;
}

/// Whether the run's network is a namespace of its own.
inline bool has_own_network(const SandboxProfile& profile) {
  return profile.use_namespaces && profile.network != NetworkMode::full;
}

/// Whether no command can write in the workspace; else each command is restricted by itself.
inline bool is_view_read_only(const SandboxProfile& profile) {
  return profile.mode == SandboxMode::read_only && !profile.may_escalate_writes;
}

/// The workspace's root where commands see it.
inline const std::filesystem::path& workspace_root(const SandboxProfile& profile) {
  const MountPlan& mount = profile.mount;
  const bool direct = mount.kind == MountPlan::Kind::direct && !mount.source.empty();
  return direct ? mount.source : mount.workspace;
}

/// Whether sortie answers the commands' connect(2) (policies/egress/gate/connect_gate.h): mode
/// `allow-list` without a network namespace.
inline bool has_connect_gate(const SandboxProfile& profile) {
  return profile.mode != SandboxMode::none && profile.network == NetworkMode::allow_list &&
         !profile.use_namespaces;
}

/// Whether commands find the proxy on their own loopback: mode `allow-list` with a network
/// namespace.
inline bool has_proxy_listener(const SandboxProfile& profile) {
  return profile.mode != SandboxMode::none && profile.network == NetworkMode::allow_list &&
         profile.use_namespaces;
}

/// What commands see of /sys and /var, read-only: how many processors and how much memory there are,
/// what is installed. All of it is the distribution's or the kernel's own description, readable by
/// every user; serial numbers, host names and debconf's answers are elsewhere.
inline constexpr auto kMachineFolders = std::to_array<const char*>(
    {"/sys/devices/system", "/sys/kernel/mm/transparent_hugepage", "/var/cache/fontconfig",
     "/var/lib/dpkg", "/var/lib/gems", "/var/lib/ghc", "/var/lib/texmf"});
/// Where commands find the limits of their control group.
inline constexpr const char* kGroupFolder = "/sys/fs/cgroup";

/// The restrictions of one command, in addition to the run's profile.
struct CommandProfile {
  bool read_only = false;
};

}  // namespace sortie
