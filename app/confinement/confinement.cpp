#include "app/confinement/confinement.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "app/confinement/git_view.h"
#include "app/confinement/script_files.h"
#include "app/confinement/tool_path.h"
#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/path_below.h"
#include "core/git/config/git_config_files.h"
#include "core/git/config/git_place.h"
#include "core/git/git_info.h"
#include "core/git/git_programs.h"
#include "core/text/pattern.h"
#include "policies/egress/gate/connect_gate.h"
#include "policies/environment/toolchains.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The container's limit where there is one (cgroup v2), else the machine's memory.
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

std::vector<std::string> protect_globs(const ConfinementInputs& inputs) {
  std::vector<std::string> globs = inputs.policy.protect;
  if (std::find(globs.begin(), globs.end(), ".git") == globs.end()) globs.push_back(".git");
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

std::vector<std::string> globs_among(const std::vector<std::string>& entries) {
  std::vector<std::string> globs;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(globs), has_wildcard);
  return globs;
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

/// A path of the workspace as commands name it: where nothing can be mounted they work in a copy
/// at a path of its own. Other paths stay as they are.
fs::path as_commands_see(const fs::path& path, const ConfinementInputs& inputs,
                         const fs::path& seen) {
  if (path.empty() || !is_below(path, inputs.workspace)) return path;
  const fs::path relative = path.lexically_relative(inputs.workspace);
  return relative == "." ? seen : seen / relative;
}

/// --out, unless the copy that commands work in lies there itself.
fs::path out_to_protect(const ConfinementInputs& inputs, const fs::path& seen) {
  if (inputs.out.empty() || is_below(seen, inputs.out)) return {};
  return as_commands_see(inputs.out, inputs, seen);
}

/// The task's and the policy's own files.
std::vector<fs::path> files_to_protect(const ConfinementInputs& inputs, const fs::path& seen) {
  std::vector<fs::path> files;
  for (const auto* list : {&inputs.protected_files, &inputs.policy.files}) {
    for (const auto& file : *list) {
      std::error_code error;
      const fs::path real = fs::weakly_canonical(file, error);
      files.push_back(as_commands_see(error ? file : real, inputs, seen));
    }
  }
  return files;
}

/// HOME and a folder for temporary files, the commands' own.
void make_private_home(const SandboxProfile& profile) {
  std::error_code error;
  fs::create_directories(profile.home / "tmp", error);
  if (error) throw Error(profile.home.string() + ": " + error.message(), ExitCode::environment);
  for (const auto& folder : {profile.home, profile.home / "tmp"})
    if (::chown(folder.c_str(), profile.uid, profile.gid) != 0)
      throw system_error("chown " + folder.string(), ExitCode::environment);
}

/// What some command may be given by a rule beyond the policy's own sandbox.
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

/// Adds what of the caller's own tools the run gets to see, and hides what opens doors with it.
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

/// Files that uid 0 alone may read, so that they have to be hidden where root's commands are
/// root's: without a capability an owner still reads what is its own.
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

/// Services of the machine that listen in a folder which commands are shown: a read-only mount
/// keeps nobody from connecting. Found among the first entries only, so that no tree holds up the
/// start; that there are more is told.
void hide_sockets(SandboxProfile& profile, const std::vector<fs::path>& folders,
                  std::vector<std::string>& warnings) {
  constexpr int kMostLooked = 20'000;
  int looked = 0;
  for (const fs::path& folder : folders) {
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
         it.increment(error)) {
      if (++looked > kMostLooked) {
        warnings.push_back(
            "sandbox: " + folder.string() +
            " has more files and folders than are looked through for sockets (20,000): commands "
            "can connect to services that listen beyond them; name smaller folders in paths.read");
        return;
      }
      std::error_code unknown;
      if (!it->is_symlink(unknown) && it->is_socket(unknown))
        profile.hide.push_back(quoted_glob(it->path()));
    }
    if (error && error != std::errc::no_such_file_or_directory &&
        error != std::errc::not_a_directory)
      warnings.push_back("sandbox: " + folder.string() +
                         " could not be looked through for sockets (" + error.message() +
                         "): commands can connect to services that listen there");
  }
}

SandboxProfile make_profile(const ConfinementInputs& inputs, const Environment& own,
                            std::vector<std::string>& warnings) {
  const Policy& policy = inputs.policy;
  SandboxProfile profile;
  profile.mode = policy.sandbox;
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

/// Mode allow-list without anything that would keep the rest away is not that mode.
void require_way_out(const SandboxProfile& profile, const SandboxLayers& layers) {
  if (profile.network != NetworkMode::allow_list || layers.namespaces) return;
  if (profile.mode == SandboxMode::none)
    throw Error("network.mode: allow-list is nothing that sandbox.mode: none could enforce",
                ExitCode::environment);
  const std::string problem = probe_connect_gate(profile.uid, profile.gid);
  if (!problem.empty())
    throw Error(
        "network.mode: allow-list can't be had here: the system gives no network namespace, nor "
        "does it let connections be decided outside the sandbox (seccomp user notification: " +
            problem + ")",
        ExitCode::environment);
}

}  // namespace

CommandPath path_of_commands(const ConfinementInputs& inputs, const Environment& own) {
  std::vector<std::string> told_by_the_run;
  SandboxProfile profile = make_profile(inputs, own, told_by_the_run);
  show_toolchains(inputs, own, profile);
  return tool_path({inputs.policy, inputs.approval, inputs.workspace, inputs.out, view_home(own)},
                   own, profile);
}

Confinement::Confinement(const ConfinementInputs& given, const Environment& own) {
  const GitPrograms programs = read_git_programs(given.workspace);
  ConfinementInputs inputs = given;
  inputs.protected_files.insert(inputs.protected_files.end(), programs.included.begin(),
                                programs.included.end());
  // Also where `.git` names another folder of the workspace.
  const GitPlace git = find_git_place(inputs.workspace);
  for (const fs::path& folder : {git.git_dir, git.common_dir})
    if (!folder.empty()) inputs.protected_files.push_back(folder);
  // Elsewhere the diff shows what became of them, before the user's own git runs it.
  if (inputs.mount.in_place)
    for (const fs::path& hooks : hooks_elsewhere(inputs.workspace))
      if (hooks != inputs.workspace) inputs.protected_files.push_back(hooks);
  profile_ = make_profile(inputs, own, warnings_);
  outputs_ = inputs.outputs;
  if (!outputs_.empty()) profile_.readable.push_back(outputs_);
  const fs::path& seen = workspace();
  const Toolchains toolchains = show_toolchains(inputs, own, profile_);
  CommandPath path =
      tool_path({inputs.policy, inputs.approval, inputs.workspace, inputs.out, view_home(own)}, own,
                profile_);
  const auto& folders = path.folders;
  for (const auto& one : path.left_out) warnings_.push_back(left_out_text(one));
  EnvironmentPlaces places;
  places.home = profile_.home;
  if (!inputs.namespaces) places.temporary = profile_.home / "tmp";
  places.path = folders;
  environment_ = command_environment(inputs.policy, own, places);
  environment_.insert(toolchains.variables.begin(), toolchains.variables.end());
  environment_.insert(path.variables.begin(), path.variables.end());
  show_git(inputs, programs);
  // The workspace is a file system of its own below the repository's.
  if (!profile_.git.folders.empty()) environment_["GIT_DISCOVERY_ACROSS_FILESYSTEM"] = "1";
  engine_ = std::make_unique<Engine>(
      inputs.policy, inputs.approval, seen, out_to_protect(inputs, seen), folders,
      files_to_protect(inputs, seen), view_home(own), tracked_by_git(inputs.workspace));
  for (const auto& folder : folders)
    if (!is_below(folder, seen)) profile_.readable.push_back(folder);
  for (const auto& folder : path.installations) profile_.readable.push_back(folder);
  if (profile_.use_namespaces) hide_sockets(profile_, path.installations, warnings_);
  keeper_ = std::make_unique<Keeper>(profile_);
  launcher_ = std::make_unique<ReadOnlyLauncher>(watch_made_paths());
  require_way_out(profile_, keeper_->layers());
  // A descriptor of its own: reading and writing through it needs no more than the O_PATH of the
  // keeper's view gives (openat2(2) takes such a descriptor as its root).
  view_ = std::make_unique<DiskFiles>(Fd(::fcntl(keeper_->view_root().get(), F_DUPFD_CLOEXEC, 3)));
  if (inputs.start != nullptr) engine_->judge_scripts_by(script_files(*inputs.start, *view_, seen));
  if (!inputs.no_namespaces.empty()) missing_.push_back("namespaces: " + inputs.no_namespaces);
  const auto& layers = keeper_->layers();
  missing_.insert(missing_.end(), layers.missing.begin(), layers.missing.end());
}

/// The repository that commands are to find, as far as it is to be found.
void Confinement::show_git(const ConfinementInputs& inputs, const GitPrograms& programs) {
  const fs::path& seen = workspace();
  FoundGitView found = find_git_view({.workspace = inputs.workspace,
                                      .out = inputs.out,
                                      .home = profile_.home,
                                      .hide = inputs.policy.hide,
                                      .protect = globs_among(profile_.protect),
                                      .namespaces = inputs.namespaces});
  profile_.git = std::move(found.view);
  for (const fs::path& path : found.hidden) profile_.hide.push_back(quoted_glob(path));
  // A read-only mount keeps nobody from connecting to a service of the machine.
  if (inputs.namespaces)
    for (const fs::path& path : found.sockets) profile_.hide.push_back(quoted_glob(path));
  profile_.hidden_inside = std::move(found.hidden_inside);
  profile_.protected_inside = std::move(found.protected_inside);
  links_at_start_.insert(found.links.begin(), found.links.end());
  git_files_ = std::move(found.git_files);
  if (!found.incomplete.empty()) warnings_.push_back("sandbox: " + found.incomplete);
  if (!inputs.namespaces) clean_copies(inputs);
  if (!found.problem.empty()) missing_.push_back("git: " + found.problem);
  if (inputs.approval == Approval::full_auto) return;
  const GitPlace repository = find_git_place(inputs.workspace);
  const fs::path& toplevel = repository.toplevel;
  fs::path place = toplevel;
  // One that is not shown, or that the class read-only can't be judged in, is none; and where there
  // is none, none may come up: its configuration would be a command's.
  if (toplevel.empty() || !found.problem.empty() || !why_git_is_refused(inputs.workspace).empty())
    place = "/nonexistent";
  else if (seen != inputs.workspace && toplevel == inputs.workspace)
    place = seen;
  git_environment_ = one_repository(place, programs.overrides);
  if (toplevel.empty()) git_environment_["GIT_WORK_TREE"] = seen.string();
  // The copy's own file may name the repository by a path that leads elsewhere from there.
  if (place == seen && !toplevel.empty() && fs::is_regular_file(inputs.workspace / ".git"))
    git_environment_["GIT_DIR"] = repository.git_dir.string();
}

/// Where nothing can be mounted the copy itself has none of the credentials; of the user's own tree
/// that can't be had.
void Confinement::clean_copies(const ConfinementInputs& inputs) {
  for (const auto& [file, text] : profile_.git.files) {
    if (!is_below(file, inputs.workspace)) continue;
    if (inputs.mount.in_place || workspace() == inputs.workspace) {
      missing_.push_back("git: commands can read the credentials in " + file.string());
      continue;
    }
    const fs::path copy = workspace() / file.lexically_relative(inputs.workspace);
    std::error_code error;
    if (!fs::is_regular_file(copy, error)) continue;
    struct stat status {};
    if (::stat(copy.c_str(), &status) != 0) throw system_error("stat " + copy.string());
    write_file(copy, text, status.st_mode & 07777);
    if (::geteuid() == 0 && ::chown(copy.c_str(), status.st_uid, status.st_gid) != 0)
      throw system_error("chown " + copy.string(), ExitCode::environment);
  }
}

Launcher& Confinement::watch_made_paths() {
  if (!keeper_->layers().namespaces || is_view_read_only(profile_)) return keeper_->launcher();
  made_paths_ = std::make_unique<MadePaths>(
      Fd(::fcntl(keeper_->view_root().get(), F_DUPFD_CLOEXEC, 3)), profile_);
  looking_launcher_ = std::make_unique<MadePathsLauncher>(keeper_->launcher(), *made_paths_);
  return *looking_launcher_;
}

void Confinement::limit_to(StageLimits limits) {
  launcher_->hold_read_only(limits.read_only);
  engine_->limit_to(std::move(limits));
}

Json Confinement::layers_json() const {
  const SandboxLayers& layers = keeper_->layers();
  Json missing = Json::array();
  for (const auto& one : missing_) missing.push_back(one);
  for (const auto& one : layers.notes) missing.push_back(one);
  return Json::object({{"namespaces", layers.namespaces},
                       {"landlock_abi", layers.landlock_abi},
                       {"seccomp", layers.seccomp},
                       {"cgroup", layers.cgroup},
                       {"connect_gate", layers.connect_gate},
                       {"missing", std::move(missing)}});
}

Json guarantees_json(const std::vector<GuaranteeProof>& proofs) {
  Json json = Json::object();
  for (const auto& proof : proofs)
    json.set(name_of(proof.guarantee),
             Json::object({{"proved", proof.proved},
                           {"detail", proof.detail},
                           {"attempts", static_cast<std::int64_t>(proof.attempts)}}));
  return json;
}

std::string missing_guarantees(const Policy& policy, const std::vector<GuaranteeProof>& proofs) {
  std::string text;
  for (const Guarantee wanted : policy.guarantee) {
    // Given up by the policy's own word, which the run says aloud.
    if (wanted == Guarantee::network && policy.network == NetworkMode::full) continue;
    const auto proof = std::find_if(proofs.begin(), proofs.end(),
                                    [wanted](const auto& one) { return one.guarantee == wanted; });
    if (proof != proofs.end() && proof->proved) continue;
    text += text.empty() ? "the sandbox could not prove what the policy asks for: " : "; ";
    text += name_of(wanted);
    text += proof == proofs.end() ? " (was not tried)" : " (" + proof->detail + ")";
  }
  return text;
}

}  // namespace sortie
