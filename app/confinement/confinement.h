#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/confinement/command_host.h"
#include "app/confinement/command_profile.h"
#include "core/files/files.h"
#include "core/git/git_programs.h"
#include "core/json/json.h"
#include "core/process/launcher.h"
#include "core/workspace/workspace.h"
#include "policies/engine/engine.h"
#include "policies/environment/command_path.h"
#include "policies/environment/environment.h"
#include "policies/rules/action.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/keeper.h"
#include "policies/sandbox/keeper/keeper_launcher.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/made_paths.h"

namespace sortie {

/// Knows which programs are still running while other commands are started.
class ConcurrentCommandSource {
 public:
  virtual ~ConcurrentCommandSource() = default;
  virtual ConcurrentCommands concurrent_commands() const = 0;
};

/// The keeper with its profile, the environment of commands, and the engine that decides on them.
///
/// Forks: make it while the process has a single thread, but for that of
/// ConfinementInputs::early_git_view, which has ended before.
class Confinement : public CommandHost {
 public:
  /// @param own  this process's environment
  /// @throws Error  ExitCode::environment
  Confinement(const ConfinementInputs& inputs, const Environment& own);

  Launcher& launcher() override { return *launcher_; }
  void drop_private_set(const std::string& name) override { keeper_->drop_private_set(name); }
  bool can_make_tree() const override;
  Fd make_tree(const SetTree& tree) override { return keeper_->make_tree(tree); }
  std::unique_ptr<MadePaths> guard_tree(const MountPlan& plan, Fd root) override;
  void clean_tree() override { clean_copies(); }
  /// Applies a stage's limits to decisions and to the commands started from now on, until the next
  /// call.
  void limit_to(StageLimits limits);
  Keeper& keeper() { return *keeper_; }
  const SandboxProfile& profile() const { return profile_; }
  const Environment& environment() const override { return environment_; }
  /// Additional variables for git commands if Engine::holds_git(): they limit git to one repository,
  /// none of whose programs are run. Empty in full-auto.
  const Environment& git_environment() const { return git_environment_; }
  const Engine& engine() const override { return *engine_; }
  /// The workspace as commands see it, for sortie's own file work.
  DiskFiles& view() { return *view_; }
  const std::filesystem::path& workspace() const override { return workspace_root(profile_); }
  /// Removes protected names that commands create; null if mounts don't guard the existing ones
  /// either, or if none can be created.
  MadePaths* made_paths() const noexcept { return made_paths_.get(); }
  /// The folder of saved outputs; "" for none.
  const std::filesystem::path& outputs() const { return outputs_; }
  /// The parts of the sandbox that are not available here, and why.
  const std::vector<std::string>& missing() const { return missing_; }
  /// Folders of the caller's PATH that commands don't have, why, and what to write instead; trees that
  /// are too large to search for what to hide.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Files with possible credentials in the repositories that commands see.
  const std::vector<std::filesystem::path>& git_files() const { return git_files_; }
  /// The workspace's links before any command, relative to it, except those in node_modules.
  const std::set<std::filesystem::path>& links_at_start() const { return links_at_start_; }
  /// {"namespaces","landlock_abi","seccomp","cgroup","connect_gate","missing"}.
  Json layers_json() const;

 private:
  friend class ConcurrentCommandWatch;

  CommandPath make_environment(const ConfinementInputs& inputs, const Environment& own);
  void start_keeper(const ConfinementInputs& inputs,
                    const std::function<void(int keeper)>& meanwhile);
  void show_git(const ConfinementInputs& inputs, const GitPrograms& programs);
  void clean_copies();
  Launcher& watch_made_paths();

  SandboxProfile profile_;
  std::filesystem::path own_workspace_;  ///< the user's own tree
  std::filesystem::path outputs_;
  Environment environment_;
  Environment git_environment_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<MadePaths> made_paths_;
  std::unique_ptr<Launcher> looking_launcher_;  ///< over the keeper's, for made_paths_
  std::unique_ptr<Launcher> timing_launcher_;   ///< over those, with ConfinementInputs::times
  std::unique_ptr<ReadOnlyLauncher> launcher_;
  std::unique_ptr<DiskFiles> view_;
  std::vector<std::string> missing_;
  std::vector<std::string> warnings_;
  std::vector<std::filesystem::path> git_files_;
  std::set<std::filesystem::path> links_at_start_;
};

/// During its lifetime, the engine asks the source which programs run concurrently with a command.
class ConcurrentCommandWatch {
 public:
  /// @param confinement, source  outlive it
  ConcurrentCommandWatch(Confinement& confinement, const ConcurrentCommandSource& source)
      : confinement_(confinement) {
    confinement_.engine_->look_beside_by([&source] { return source.concurrent_commands(); });
  }
  ConcurrentCommandWatch(const ConcurrentCommandWatch&) = delete;
  ConcurrentCommandWatch& operator=(const ConcurrentCommandWatch&) = delete;
  ~ConcurrentCommandWatch() { confinement_.engine_->look_beside_by({}); }

 private:
  Confinement& confinement_;
};

/// Guarantees by name: {"writes": {"proved": true, "detail": "…", "attempts": 25}, …}.
Json guarantees_json(const std::vector<GuaranteeProof>& proofs);
/// The guarantees that the policy asks for and that were not proved, in words; or "".
std::string missing_guarantees(const Policy& policy, const std::vector<GuaranteeProof>& proofs);

}  // namespace sortie
