#include "app/confinement/confinement.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "app/confinement/git_view.h"
#include "app/confinement/work_watch.h"
#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/path_below.h"
#include "core/git/config/git_config_files.h"
#include "core/git/config/git_place.h"
#include "core/git/git_info.h"
#include "core/git/git_programs.h"
#include "core/text/pattern.h"
#include "core/workspace/apply/tree_path.h"
#include "policies/egress/gate/connect_gate.h"
#include "policies/environment/toolchains.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Larger files are not scripts, and comparing them would delay each call.
constexpr std::uint64_t kMaxScript = 64ull << 20;

/// The rest of the path after the workspace, with its ".." and links unresolved; nothing if it does
/// not begin with the workspace.
std::optional<fs::path> behind(const fs::path& path, const fs::path& workspace) {
  const std::string prefix = workspace.string() + "/";
  const std::string text = path.string();
  if (!text.starts_with(prefix)) return std::nullopt;
  return fs::path(text.substr(prefix.size()));
}

/// How the file differs from the start, or "".
std::string difference(const Files& start, const Files& view, const fs::path& path) {
  const std::string name = path.string();
  const auto now = view.status(path);
  const auto before = start.status(path);
  if (!now) return name + " does not exist";
  if (!before) return name + " was made in this run, and only scripts of the start may run";
  if (now->kind != FileStatus::Kind::file) return name + " is not a file";
  if ((now->mode & 0111) == 0) return name + " is not executable";
  const bool same = before->kind == now->kind && before->mode == now->mode &&
                    before->size == now->size &&
                    start.read(path, kMaxScript) == view.read(path, kMaxScript);
  return same ? "" : name + " was changed in this run, and only scripts of the start may run";
}

/// For script rules: checks that a file is as it was at the start of the run: a regular file, at the
/// target of the same path as then, with the same bytes and mode. Compares again each time.
///
/// @param start      the tree as it was; both outlive the function
/// @param view       the tree as the run has it now
/// @param workspace  absolute, as commands name it
ScriptFiles script_files(const Files& start, const Files& view, fs::path workspace) {
  return [&start, &view, workspace = std::move(workspace)](const fs::path& path) {
    ScriptFile file;
    const auto relative = behind(path, workspace);
    if (!relative) {
      file.problem = "the path leaves the workspace on its way";
      return file;
    }
    try {
      file.path = view.resolve(*relative);
      file.problem = difference(start, view, file.path);
      if (file.problem.empty() && start.resolve(*relative) != file.path)
        file.problem = relative->string() + " led elsewhere at the start of the run";
    } catch (const ToolError& error) {
      file.problem = error.what();
    }
    return file;
  };
}

/// A path of the workspace as commands see it: if nothing can be mounted, they work in a copy at
/// another path. Other paths are unchanged.
fs::path as_commands_see(const fs::path& path, const ConfinementInputs& inputs,
                         const fs::path& seen) {
  if (path.empty() || !is_below(path, inputs.workspace)) return path;
  const fs::path relative = path.lexically_relative(inputs.workspace);
  return relative == "." ? seen : seen / relative;
}

/// --out, unless the copy that commands work in is inside it.
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

/// Refuses mode allow-list if nothing here can enforce it.
void require_way_out(const SandboxProfile& profile, const SandboxLayers& layers) {
  if (profile.network != NetworkMode::allow_list || layers.namespaces) return;
  if (profile.mode == SandboxMode::none)
    throw Error("sandbox.mode: none can't enforce network.mode: allow-list", ExitCode::environment);
  const std::string problem = probe_connect_gate(profile.uid, profile.gid);
  if (!problem.empty())
    throw Error(
        "network.mode: allow-list can't be enforced here: the system has no network namespaces, nor "
        "does it let connections be decided outside the sandbox (seccomp user notification: " +
            problem + ")",
        ExitCode::environment);
}

/// --out where commands may write beyond the workspace, and folders of other runs wherever they are shown.
/// What lies in the workspace itself is its mount's concern.
std::vector<fs::path> outputs_to_cover(const ConfinementInputs& inputs,
                                       const SandboxProfile& profile) {
  std::vector<fs::path> found;
  const auto take = [&](const fs::path& folder, const std::vector<fs::path>& shown) {
    std::error_code error;
    if (folder.empty() || is_below(folder, inputs.workspace) ||
        !fs::is_directory(fs::symlink_status(folder, error)))
      return;
    for (const fs::path& place : shown)
      if (is_below(folder, place)) return found.push_back(folder);
  };
  for (const fs::path& folder : {inputs.out, fs::path(inputs.out.string() + ".prev")})
    if (!inputs.out.empty()) take(folder, profile.writable);
  for (const fs::path& folder : inputs.covered)
    for (const auto* shown : {&profile.writable, &profile.readable, &profile.git.folders})
      take(folder, *shown);
  return found;
}

/// Adds git's configuration files to the protected ones.
ConfinementInputs with_files_of_git(ConfinementInputs inputs, const GitPrograms& programs) {
  std::vector<fs::path>& files = inputs.protected_files;
  files.insert(files.end(), programs.included.begin(), programs.included.end());
  // Also where `.git` names another folder of the workspace.
  const GitPlace git = find_git_place(inputs.workspace);
  for (const fs::path& folder : {git.git_dir, git.common_dir})
    if (!folder.empty()) files.push_back(folder);
  if (inputs.mount.in_place) files.push_back(inputs.workspace / kApplyFolder);
  // Elsewhere the diff shows what became of them, before the user's own git runs it.
  if (inputs.mount.in_place)
    for (const fs::path& hooks : hooks_elsewhere(inputs.workspace))
      if (hooks != inputs.workspace) files.push_back(hooks);
  return inputs;
}

}  // namespace

Confinement::Confinement(const ConfinementInputs& given, const Environment& own) {
  const GitPrograms programs = read_git_programs(given.workspace);
  const ConfinementInputs inputs = with_files_of_git(given, programs);
  profile_ = make_profile(inputs, own, warnings_);
  own_workspace_ = inputs.workspace;
  outputs_ = inputs.outputs;
  if (!outputs_.empty()) profile_.readable.push_back(outputs_);
  const fs::path& seen = workspace();
  const CommandPath path = make_environment(inputs, own);
  show_git(inputs, programs);
  // The workspace is a file system of its own below the repository's.
  for (fs::path& folder : outputs_to_cover(inputs, profile_))
    profile_.git.covered.push_back(std::move(folder));
  if (!profile_.git.folders.empty()) environment_["GIT_DISCOVERY_ACROSS_FILESYSTEM"] = "1";
  for (const auto& folder : path.folders)
    if (!is_below(folder, seen)) profile_.readable.push_back(folder);
  for (const auto& folder : path.installations) profile_.readable.push_back(folder);
  if (profile_.use_namespaces) hide_sockets(profile_, path.installations, warnings_);
  start_keeper(inputs, [&](int keeper) {
    engine_ = std::make_unique<Engine>(
        inputs.policy, inputs.approval, seen, out_to_protect(inputs, seen), path.folders,
        files_to_protect(inputs, seen), view_home(own), tracked_by_git(inputs.workspace));
    if (inputs.started) inputs.started(keeper);
  });
}

/// Makes the commands' environment and PATH.
CommandPath Confinement::make_environment(const ConfinementInputs& inputs, const Environment& own) {
  const Toolchains toolchains = show_toolchains(inputs, own, profile_);
  CommandPath path = tool_path(inputs, own, profile_);
  for (const auto& one : path.left_out) warnings_.push_back(left_out_text(one));
  EnvironmentPlaces places;
  places.home = profile_.home;
  if (!inputs.namespaces) places.temporary = profile_.home / "tmp";
  places.path = path.folders;
  environment_ = command_environment(inputs.policy, own, places);
  environment_.insert(toolchains.variables.begin(), toolchains.variables.end());
  environment_.insert(path.variables.begin(), path.variables.end());
  return path;
}

void Confinement::start_keeper(const ConfinementInputs& inputs,
                               const std::function<void(int keeper)>& meanwhile) {
  keeper_ = std::make_unique<Keeper>(profile_, meanwhile, inputs.early_keeper);
  Launcher* launcher = &watch_made_paths();
  if (inputs.times != nullptr) {
    timing_launcher_ = std::make_unique<WatchedLauncher>(*launcher, *inputs.times);
    launcher = timing_launcher_.get();
  }
  launcher_ = std::make_unique<ReadOnlyLauncher>(*launcher);
  require_way_out(profile_, keeper_->layers());
  // A descriptor of its own: reading and writing through it needs no more than the O_PATH of the
  // keeper's view gives (openat2(2) takes such a descriptor as its root).
  Fd root(::fcntl(keeper_->view_root().get(), F_DUPFD_CLOEXEC, 3));
  view_ = inputs.times == nullptr
              ? std::make_unique<DiskFiles>(std::move(root), workspace())
              : std::make_unique<WatchedFiles>(std::move(root), workspace(), *inputs.times);
  if (inputs.start != nullptr)
    engine_->judge_scripts_by(script_files(*inputs.start, *view_, workspace()));
  if (!inputs.no_namespaces.empty()) missing_.push_back("namespaces: " + inputs.no_namespaces);
  const auto& layers = keeper_->layers();
  missing_.insert(missing_.end(), layers.missing.begin(), layers.missing.end());
}

/// Shows the repository to commands, as far as possible.
void Confinement::show_git(const ConfinementInputs& inputs, const GitPrograms& programs) {
  const fs::path& seen = workspace();
  const GitViewInputs looked_for = git_view_inputs(inputs, profile_.protect, profile_.home);
  FoundGitView found = inputs.early_git_view != nullptr ? inputs.early_git_view->take(looked_for)
                                                        : find_git_view(looked_for);
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
  if (!inputs.namespaces) clean_copies();
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

/// Without mounts, removes git credentials from the copy that commands work in; impossible in the
/// user's own tree.
void Confinement::clean_copies() {
  for (const auto& [file, text] : profile_.git.files) {
    if (!is_below(file, own_workspace_)) continue;
    if (profile_.mount.in_place || workspace() == own_workspace_) {
      missing_.push_back("git: commands can read the credentials in " + file.string());
      continue;
    }
    const fs::path copy = workspace() / file.lexically_relative(own_workspace_);
    std::error_code error;
    if (!fs::is_regular_file(copy, error)) continue;
    struct stat status {};
    if (::stat(copy.c_str(), &status) != 0) throw system_error("stat " + copy.string());
    write_file(copy, text, status.st_mode & 07777);
    if (::geteuid() == 0 && ::chown(copy.c_str(), status.st_uid, status.st_gid) != 0)
      throw system_error("chown " + copy.string(), ExitCode::environment);
  }
}

bool Confinement::can_make_tree() const { return keeper_->layers().namespaces; }

std::unique_ptr<MadePaths> Confinement::guard_tree(const MountPlan& plan, Fd root) {
  if (made_paths_ == nullptr) return nullptr;
  SandboxProfile profile = profile_;
  profile.mount = plan;
  return std::make_unique<MadePaths>(std::move(root), profile);
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
    // The policy itself opens the network, and the run prints a warning.
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
