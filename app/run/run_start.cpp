#include "app/run/run_start.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "core/agent/budget.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/git/config/git_place.h"
#include "core/git/git_tree.h"
#include "core/git/submodules.h"
#include "core/json/json.h"
#include "core/record/diff_names.h"
#include "core/task/functions.h"
#include "core/task/task_loader.h"
#include "core/workspace/diff/path_patterns.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/own_tree.h"
#include "core/workspace/workspace_options.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/path_rules.h"
#include "policies/sandbox/keeper/support.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Uses the rules for the tools' reads.
std::function<bool(const std::string&)> hidden_paths(const RunInputs& inputs) {
  const char* home = std::getenv("HOME");
  const auto rules = std::make_shared<PathRules>(
      inputs.policy, PathPlaces{.workspace = inputs.workspace,
                                .out = {},
                                .protected_files = {},
                                .home = home ? home : "",
                                .tracked = tracked_by_git(inputs.workspace)});
  return [rules](const std::string& path) { return rules->is_hidden(path); };
}

/// What a verification in a tree of its own shows as at the start, though git ignores it. What it
/// takes from the run is not needed, where it sees that in layers of its own.
std::function<bool(const std::string&)> ignored_to_keep(const RunInputs& inputs, bool namespaces) {
  const TaskVerify& verify = inputs.task.verify;
  if (verify.commands.empty() || verify.in != VerifyIn::fresh) return {};
  const auto kept = std::make_shared<PathPatterns>(verify.keep, "verify.keep");
  const auto restored = std::make_shared<PathPatterns>(verify.restore, "verify.restore");
  return [kept, restored, namespaces](const std::string& path) {
    return !namespaces || !kept->match(path) || restored->match(path);
  };
}

/// The models with their limits and prices, and the table that those come from.
Json model_json(const RunInputs& inputs) {
  const auto one = [&inputs](const TaskModel& model, std::size_t source) {
    Json json = Json::object({{"provider", model.provider}, {"name", model.name}});
    if (source >= inputs.terms.size()) return json;
    const Json terms = to_json(inputs.terms[source]);
    for (const auto& [name, value] : terms.members()) json.set(name, value);
    return json;
  };
  const TaskModel& model = inputs.task.model;
  Json json = one(model, 0);
  json.set("effort", name_of(model.effort));
  Json fallback = Json::array();
  for (std::size_t i = 0; i < model.fallback.size(); ++i)
    fallback.push_back(one(model.fallback[i], i + 1));
  json.set("fallback", std::move(fallback));
  json.set("table",
           Json::object({{"version", known_models().version}, {"date", known_models().date}}));
  return json;
}

/// The contents that the effective task does not have itself; null if there are none.
Json task_files(const Task& task) {
  Json files;
  if (!task.functions.empty()) files.set("functions", functions_json(task.functions));
  if (task.output.schema) files.set("output_schema", *task.output.schema);
  return files;
}

SandboxStart sandbox_start(const Policy& policy, Confinement& confinement) {
  const SandboxLayers& layers = confinement.keeper().layers();
  SandboxStart start{.namespaces = layers.namespaces,
                     .landlock_abi = layers.landlock_abi,
                     .seccomp = layers.seccomp,
                     .cgroup = layers.cgroup,
                     .connect_gate = layers.connect_gate,
                     .missing = confinement.missing(),
                     .mode = name_of(policy.sandbox),
                     .network = name_of(policy.network)};
  start.missing.insert(start.missing.end(), layers.notes.begin(), layers.notes.end());
  return start;
}

}  // namespace

namespace {

/// The folders of other runs, which no command of this one may see: the threads of exec.
std::vector<fs::path> folders_of_others(const RunInputs& inputs) {
  if (inputs.thread == nullptr || inputs.thread->store.empty()) return {};
  return {inputs.thread->store};
}

/// Where commands may write in the user's own folders.
std::vector<fs::path> own_places(const RunInputs& inputs) {
  std::vector<fs::path> places;
  for (const std::string& entry : inputs.policy.write) {
    const fs::path path = fs::weakly_canonical(inputs.workspace / entry);
    if (!is_below(path, inputs.workspace)) places.push_back(path);
  }
  if (inputs.task.workspace.isolation == Isolation::none) places.push_back(inputs.workspace);
  return places;
}

/// Where nothing is mounted over them, commands that may write could change the record of their own run,
/// the threads, and what runs share.
/// @throws Error  environment
void keep_records_apart(const RunInputs& inputs, const fs::path& out, Namespaces namespaces) {
  if (namespaces != Namespaces::none || inputs.policy.sandbox != SandboxMode::workspace_write)
    return;
  std::vector<fs::path> records = folders_of_others(inputs);
  records.insert(records.begin(), out);
  if (inputs.rate_limits) records.push_back(inputs.rate_limits->state);
  for (const fs::path& place : own_places(inputs))
    for (const fs::path& record : records)
      if (path_below(record, place))
        throw Error(
            path_text(record) + " lies " +
                (place == inputs.workspace ? "in the workspace"
                                           : "below " + path_text(place) + " (paths.write)") +
                ", and without namespaces nothing keeps commands from changing what is "
                "recorded there: name a folder elsewhere (--out" +
                (inputs.thread == nullptr ? "" : ", CODEX_HOME") +
                (inputs.rate_limits ? ", 'state' of --rate-limits" : "") +
                "), or use --isolation copy",
            ExitCode::environment);
}

/// The folders whose names have to stay as they are.
std::vector<fs::path> folders_to_pin(const RunInputs& inputs, const RunPlaces& places) {
  std::vector<fs::path> files = places.outputs;
  for (const fs::path& folder : folders_of_others(inputs)) files.push_back(folder);
  files.push_back(inputs.workspace / "in it");
  std::vector<fs::path> folders;
  for (const fs::path& file : files) {
    std::error_code error;
    fs::path folder = fs::weakly_canonical(file.parent_path(), error);
    if (!error) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace

std::unique_ptr<Workspace> open_run_workspace(const RunInputs& inputs, const RunPlaces& places,
                                              Namespaces namespaces) {
  keep_records_apart(inputs, places.out, namespaces);
  WorkspaceOptions options;
  options.root = inputs.workspace;
  options.out = places.out;
  options.covered = folders_of_others(inputs);
  options.state = places.state;
  options.isolation = inputs.task.workspace.isolation;
  options.copy_limit = inputs.task.workspace.copy_limit;
  options.submodules = inputs.task.output.submodules;
  options.namespaces = namespaces != Namespaces::none;
  // exec has to work in the tree wherever codex does: protected paths are compared after each command.
  options.protects = !inputs.policy.protect.empty() && inputs.thread == nullptr;
  options.keeps_start = inputs.thread == nullptr || inputs.thread->keeps_start;
  options.overlay_assumed = namespaces == Namespaces::assumed;
  options.keeps_record_later = true;
  options.probe_overlay = [](const MountPlan& plan) { return probe_overlay(plan); };
  options.keeps_ignored = ignored_to_keep(inputs, options.namespaces);
  if (!options.namespaces) options.hidden = hidden_paths(inputs);
  return open_workspace(options);
}

std::unique_ptr<EarlyGitView> look_for_git_view(const RunInputs& inputs, const fs::path& out,
                                                const Environment& own) {
  // A copy is searched when it is made: it may have what came meanwhile.
  if (inputs.policy.sandbox == SandboxMode::none ||
      inputs.task.workspace.isolation == Isolation::copy)
    return nullptr;
  const ConfinementInputs known{
      .policy = inputs.policy, .workspace = inputs.workspace, .out = out, .namespaces = true};
  return std::make_unique<EarlyGitView>(
      git_view_inputs(known, protect_globs(known), view_home(own)));
}

std::unique_ptr<Confinement> confine_run(const RunInputs& inputs, const RunPlaces& places,
                                         Workspace& workspace, std::vector<fs::path> files,
                                         Namespaces namespaces, const std::string& no_namespaces,
                                         const Environment& own,
                                         std::function<void(int keeper)> started,
                                         EarlyParts early) {
  return std::make_unique<Confinement>(
      ConfinementInputs{.policy = inputs.policy,
                        .approval = inputs.approval,
                        .workspace = inputs.workspace,
                        .out = places.out,
                        .protected_files = std::move(files),
                        .mount = workspace.mount_plan(),
                        .namespaces = namespaces != Namespaces::none,
                        .no_namespaces = no_namespaces,
                        .private_folder = places.state,
                        .outputs = make_outputs_folder(places.state),
                        .covered = folders_of_others(inputs),
                        .pinned = folders_to_pin(inputs, places),
                        .start = &workspace.start(),
                        .times = workspace.work_times(),
                        .started = std::move(started),
                        .early_keeper = early.keeper,
                        .early_git_view = early.git_view},
      own);
}

std::string open_risk(const Policy& policy) {
  if (policy.sandbox == SandboxMode::none)
    return "sandbox: NONE by the policy: commands can do all that this user can";
  if (policy.network == NetworkMode::full)
    return "network: OPEN by the policy: commands reach all that this machine reaches";
  return "";
}

namespace {

constexpr std::size_t kMostProtected = 256;  // each is a mount for each command

/// A repository in the user's own tree could get a hook or a setting that the user's git runs.
void protect_repositories(const Workspace& workspace, std::vector<fs::path>& files) {
  const auto* const own = dynamic_cast<const OwnTreeWorkspace*>(&workspace);
  if (own == nullptr) return;
  const std::vector<fs::path> found = own->nested_repositories();
  if (found.size() > kMostProtected)
    throw Error("--isolation none: " + std::to_string(found.size()) +
                    " other repositories lie in the workspace (the first: " +
                    path_text(found.front().lexically_relative(own->list().root)) +
                    "), more than can be protected from commands (" +
                    std::to_string(kMostProtected) + "); use --isolation overlay or copy",
                ExitCode::environment);
  files.insert(files.end(), found.begin(), found.end());
}

}  // namespace

void protect_linked(const Workspace& workspace, std::vector<fs::path>& files,
                    std::vector<std::string>& warnings) {
  protect_repositories(workspace, files);
  const std::vector<fs::path> linked = workspace.linked_outside();
  if (linked.size() <= kMostProtected) {
    files.insert(files.end(), linked.begin(), linked.end());
    return;
  }
  if (std::any_of(warnings.begin(), warnings.end(),
                  [](const auto& one) { return one.find("(hard links;") != std::string::npos; }))
    return;  // confined for the second time
  warnings.push_back(
      std::to_string(linked.size()) +
      " files have another name outside of the workspace (hard links; the first: " +
      path_text(linked.front().lexically_relative(workspace.mount_plan().workspace)) +
      "), more than can be made read-only: what is written to them in place changes the other name, "
      "and is not undone there; --isolation copy keeps them apart");
}

void describe_inputs(const RunInputs& inputs, RunStart& start) {
  start.task = {inputs.task.digest, inputs.task.file, write_json_pretty(task_json(inputs.task))};
  start.policy = {inputs.policy.digest, inputs.policy.file,
                  write_json_pretty(policy_json(inputs.policy))};
  start.model = model_json(inputs);
  start.budget = to_json(inputs.task.budget);
  start.task_files = task_files(inputs.task);
  start.warnings = inputs.warnings;
}

void describe_start(const RunInputs& inputs, const RunResult& result, const GitInfo& git,
                    const Workspace& workspace, Confinement& confinement, RunStart& start) {
  start.run_id = result.run_id;
  start.run_key = result.run_key;
  start.workspace = {.path = inputs.workspace.string(),
                     .seen_as = confinement.workspace().string(),
                     .base_commit = git.head_commit,
                     .isolation = result.isolation,
                     .reason = workspace.reason()};
  start.sandbox = sandbox_start(inputs.policy, confinement);
}

std::vector<GuaranteeProof> prove(SandboxMode mode, Confinement& confinement,
                                  const std::vector<std::string>& secrets,
                                  const std::function<void()>& meanwhile) {
  if (mode != SandboxMode::none)
    return run_canary(confinement.launcher(), confinement.profile(), confinement.environment(),
                      secrets, meanwhile);
  meanwhile();
  std::vector<GuaranteeProof> proofs;
  for (const Guarantee guarantee : {Guarantee::writes, Guarantee::secrets, Guarantee::network,
                                    Guarantee::processes, Guarantee::kernel})
    proofs.push_back({guarantee, false, "sandbox.mode is none: there is nothing to prove"});
  return proofs;
}

std::vector<std::string> names_saved(const Task& task) {
  std::vector<std::string> names;
  for (const TaskStage& stage : task.stages)
    if (!stage.save.empty()) names.push_back(stage.save);
  return names;
}

void check_diff_base(const RunInputs& inputs) {
  if (inputs.task.output.base != DiffBase::head) return;
  const auto git = read_git_info(inputs.workspace);
  if (git && !git->head_commit.empty()) return;
  const auto place = inputs.task.places.find("output.diff.base");
  const std::string refused = git ? "" : why_git_is_refused(inputs.workspace);
  throw InputError((place == inputs.task.places.end() ? "" : place->second + ": error: ") +
                   "output.diff.base: head: the workspace has no commit" +
                   (refused.empty() ? "" : " that can be used: " + refused) + "; use start");
}

namespace {

/// The diffs have the submodules' paths as their names.
std::string problem_of_names(const std::vector<Submodule>& modules) {
  constexpr std::size_t kLongestName = 255;
  const std::string end = std::string(kChangesDiff).substr(std::string(kChangesDiff).rfind('.'));
  for (const Submodule& one : modules) {
    if (fs::path(one.path).filename().native().size() + end.size() > kLongestName)
      return path_text(one.path) + " has too long a name for the file of its diff";
    for (const Submodule& other : modules)
      if (other.path.starts_with(one.path + end + "/"))
        return path_text(one.path) + " and " + path_text(other.path) +
               " can't both be listed: the diff of the one has the name of a folder for the other's";
  }
  return "";
}

}  // namespace

void check_submodules(const RunInputs& inputs) {
  const auto& list = inputs.task.output.submodules;
  if (list.empty()) return;
  const auto place = inputs.task.places.find("output.diff.submodules");
  const std::string at = place == inputs.task.places.end() ? "" : place->second + ": error: ";
  try {
    const std::string problem = problem_of_names(listed_submodules(inputs.workspace, list));
    if (!problem.empty()) throw Error("output.diff.submodules: " + problem, ExitCode::usage);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    throw InputError(at + error.what());
  }
}

std::filesystem::path make_outputs_folder(const std::filesystem::path& state) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(state, error) / "outputs";
  if (!error) std::filesystem::create_directory(folder, error);
  if (error) throw path_error(folder.string(), error.value());
  return folder;
}

}  // namespace sortie
