#include "app/confinement/command_profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/journal_name.h"
#include "core/files/path_below.h"
#include "core/text/pattern.h"
#include "policies/sandbox/view/socket_files.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The container's limit if there is one (cgroup v2), else the machine's memory.
std::uint64_t memory_of_machine() {
  struct sysinfo machine {};
  std::uint64_t bytes = 8ull << 30;
  if (::sysinfo(&machine) == 0)
    bytes = static_cast<std::uint64_t>(machine.totalram) * machine.mem_unit;
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::uint64_t of_container = 0;
  if (limit >> of_container && of_container > 0) bytes = std::min(bytes, of_container);
  return bytes;
}

std::uint64_t memory_limit(const PolicyLimits& limits) {
  if (limits.memory > 0) return limits.memory;
  return memory_of_machine() / 100 * static_cast<std::uint64_t>(limits.memory_percent);
}

void set_writable(const Policy& policy, const fs::path& workspace, SandboxProfile& profile) {
  profile.workspace_writable = false;
  for (const auto& entry : policy.write) {
    const fs::path path = (workspace / entry).lexically_normal();
    const fs::path trimmed = path.has_filename() ? path : path.parent_path();
    if (trimmed == workspace)
      profile.workspace_writable = true;
    else if (is_below(trimmed, workspace))
      profile.workspace_write_only.push_back(trimmed.lexically_relative(workspace));
    else
      profile.writable.push_back(fs::weakly_canonical(trimmed));
  }
}

/// Makes the commands' own HOME with a folder for temporary files.
void make_private_home(const SandboxProfile& profile) {
  std::error_code error;
  fs::create_directories(profile.home / "tmp", error);
  if (error) throw Error(profile.home.string() + ": " + error.message(), ExitCode::environment);
  for (const auto& folder : {profile.home, profile.home / "tmp"})
    if (::chown(folder.c_str(), profile.uid, profile.gid) != 0)
      throw system_error("chown " + folder.string(), ExitCode::environment);
}

/// Records what rules may grant commands beyond the policy's own sandbox.
void set_escalations(const Policy& policy, SandboxProfile& profile) {
  if (!policy.escalation) return;
  for (const CommandRule& rule : policy.commands) {
    if (!rule.escalate || rule.effect != Effect::allow) continue;
    if (rule.sandbox.mode.value_or(policy.sandbox) != SandboxMode::read_only)
      profile.may_escalate_writes |= policy.sandbox == SandboxMode::read_only;
    if (rule.sandbox.network == NetworkMode::full)
      profile.may_escalate_network |= policy.network != NetworkMode::full;
  }
}

/// Hides files that only uid 0 may read, if commands run as root: an owner can read its files even
/// without capabilities.
void hide_roots_files(SandboxProfile& profile) {
  for (const char* file : {"/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"})
    profile.hide.push_back(file);
  for (const char* folder : {"/etc/ssh", "/etc/sudoers.d"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      struct stat status {};
      if (::lstat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
          (status.st_mode & S_IROTH) == 0)
        profile.hide.push_back(quoted_glob(entry.path()));
    }
  }
}

/// Folders of PATH that the view shows read-only although they are in the private HOME or /tmp.
std::vector<fs::path> shown_folders(const fs::path& home, const SandboxProfile& profile) {
  std::vector<fs::path> shown = profile.toolchains;
  if (!shown.empty()) shown.push_back(home / ".local/bin");
  for (const fs::path& path : profile.readable) {
    const auto holds = [&](const fs::path& place) { return is_below(path, place); };
    // Without mounts a folder can't be read-only within one that is writable.
    if (profile.use_namespaces ||
        std::none_of(profile.writable.begin(), profile.writable.end(), holds))
      shown.push_back(path);
  }
  return shown;
}

/// Rules allow or escalate a command by its name, so no command may choose the program behind it:
/// then folders of the workspace are left out of PATH.
WorkspaceFolders workspace_folders(const ConfinementInputs& inputs) {
  return inputs.approval == Approval::deny_by_default || inputs.policy.escalation
             ? WorkspaceFolders::left_out
             : WorkspaceFolders::kept;
}

}  // namespace

std::vector<std::string> protect_globs(const ConfinementInputs& inputs) {
  std::vector<std::string> globs = inputs.policy.protect;
  if (std::find(globs.begin(), globs.end(), ".git") == globs.end()) globs.push_back(".git");
  // The next start obeys it, in each folder from its workspace to the repository's root.
  globs.emplace_back(kApplyFolder);
  globs.push_back("**/" + std::string(kApplyFolder));
  std::vector<fs::path> files = inputs.protected_files;
  files.insert(files.end(), inputs.policy.files.begin(), inputs.policy.files.end());
  for (const auto& file : files) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(file, error);
    if (error || !is_below(real, inputs.workspace)) continue;
    globs.push_back(quoted_glob(real.lexically_relative(inputs.workspace).string()));
  }
  return globs;
}

GitViewInputs git_view_inputs(const ConfinementInputs& inputs,
                              const std::vector<std::string>& protect, const fs::path& home) {
  GitViewInputs found{.workspace = inputs.workspace,
                      .out = inputs.out,
                      .home = home,
                      .hide = inputs.policy.hide,
                      .namespaces = inputs.namespaces,
                      .in_place = !inputs.namespaces && inputs.mount.in_place,
                      .sandboxed = inputs.policy.sandbox != SandboxMode::none};
  std::copy_if(protect.begin(), protect.end(), std::back_inserter(found.protect), has_wildcard);
  return found;
}

CommandPath tool_path(const ConfinementInputs& inputs, const Environment& own,
                      const SandboxProfile& profile) {
  const fs::path& seen = workspace_root(profile);
  const fs::path home = view_home(own);
  // The caller's HOME too where the commands have another: its tools need more of it than the
  // folder of PATH, and a run is to find the same programs everywhere.
  CommandPathPlaces places;
  places.writable = {profile.home, home};
  if (seen != inputs.workspace) places.writable.push_back(seen);
  places.writable.insert(places.writable.end(), profile.writable.begin(), profile.writable.end());
  places.shown = shown_folders(home, profile);
  places.workspace = inputs.workspace;
  places.home = home;
  places.workspace_folders = workspace_folders(inputs);
  places.kept_apart = profile.writable;
  places.kept_apart.insert(places.kept_apart.end(), {inputs.workspace, seen, profile.home});
  if (!inputs.out.empty()) places.kept_apart.push_back(inputs.out);
  places.installations =
      inputs.policy.toolchains ? Installations::all : Installations::outside_home;
  CommandPath found = find_command_path(own, places);

  const auto as_seen = [&](const fs::path& path) {
    return is_below(path, inputs.workspace) ? seen / path.lexically_relative(inputs.workspace)
                                            : path;
  };
  for (fs::path& folder : found.folders) folder = as_seen(folder);
  for (auto& [name, value] : found.variables) value = as_seen(value).string();
  return found;
}

Toolchains show_toolchains(const ConfinementInputs& inputs, const Environment& own,
                           SandboxProfile& profile) {
  if (!inputs.policy.toolchains || profile.mode == SandboxMode::none) return {};
  std::vector<fs::path> kept = profile.writable;
  kept.push_back(inputs.workspace);
  kept.push_back(workspace_root(profile));
  if (!inputs.out.empty()) kept.push_back(inputs.out);
  Toolchains found = find_toolchains(own, view_home(own), profile.home, kept);
  profile.toolchains = found.folders;
  for (const auto& path : found.credentials) profile.hide.push_back(path.string());
  return found;
}

void hide_sockets(SandboxProfile& profile, const std::vector<fs::path>& folders,
                  std::vector<std::string>& warnings) {
  for (const fs::path& folder : folders) {
    constexpr int kFew = 256;
    constexpr int kMost = 20'000;
    SocketFiles found = find_sockets(folder, kFew);
    if (found.is_cut && can_show_without_sockets(folder)) {
      profile.without_sockets.push_back(folder);
      continue;
    }
    if (found.is_cut) found = find_sockets(folder, kMost);
    for (const fs::path& path : found.paths) profile.hide.push_back(quoted_glob(path));
    if (found.is_cut)
      warnings.push_back(
          "sandbox: " + folder.string() +
          " has more files and folders than are looked through for sockets (20,000): commands can "
          "connect to services that listen beyond them; name smaller folders in paths.read");
    else if (!found.problem.empty())
      warnings.push_back("sandbox: " + folder.string() +
                         " could not be looked through for sockets (" + found.problem +
                         "): commands can connect to services that listen there");
  }
}

SandboxProfile make_profile(const ConfinementInputs& inputs, const Environment& own,
                            std::vector<std::string>& warnings) {
  const Policy& policy = inputs.policy;
  SandboxProfile profile;
  profile.mode = policy.sandbox;
  profile.tracing = policy.tracing;
  profile.network = policy.network;
  profile.mount = inputs.mount;
  // What "~" means in the policy: the caller's, also where commands have another one.
  const fs::path own_home = view_home(own);
  profile.home = inputs.namespaces ? own_home : inputs.private_folder / "home";
  profile.readable = folders_to_read(policy, inputs.workspace, own);
  set_writable(policy, inputs.workspace, profile);
  set_escalations(policy, profile);
  profile.protect = protect_globs(inputs);
  for (const auto& path : policy.hide)
    profile.hide.push_back(path.starts_with("~/") ? (own_home / path.substr(2)).string() : path);
  profile.pinned = inputs.pinned;
  profile.use_namespaces = inputs.namespaces;
  profile.uid = ::getuid();
  profile.gid = ::getgid();
  struct stat status {};
  if (profile.uid == 0 && ::stat(inputs.workspace.c_str(), &status) == 0) {
    profile.uid = status.st_uid;  // root's commands run as the workspace's owner
    profile.gid = status.st_gid;
  }
  if (profile.uid == 0) hide_roots_files(profile);
  if (profile.use_namespaces) {
    hide_sockets(profile, profile.readable, warnings);
    hide_sockets(profile, {"/opt"}, warnings);
  }
  profile.limits = policy.limits;
  profile.memory_bytes = memory_limit(policy.limits);
  if (!inputs.namespaces) make_private_home(profile);
  return profile;
}

CommandPath path_of_commands(const ConfinementInputs& inputs, const Environment& own) {
  std::vector<std::string> unused_warnings;
  SandboxProfile profile = make_profile(inputs, own, unused_warnings);
  show_toolchains(inputs, own, profile);
  return tool_path(inputs, own, profile);
}

}  // namespace sortie
