#pragma once

#include <filesystem>
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
#include "policies/rules/command_place.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/keeper.h"
#include "policies/sandbox/keeper/keeper_launcher.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/made_paths.h"

namespace sortie {

/// Who knows of programs that go on beside the commands to come.
class ConcurrentCommandSource {
 public:
  virtual ~ConcurrentCommandSource() = default;
  virtual ConcurrentCommands concurrent_commands() const = 0;
};

/// The keeper with its profile, the environment of commands, and the engine that decides on them.
///
/// Forks: make it while the process has a single thread.
class Confinement : public CommandHost {
 public:
  /// @param own  this process's environment
  /// @throws Error  ExitCode::environment
  Confinement(const ConfinementInputs& inputs, const Environment& own);

  Launcher& launcher() override { return *launcher_; }
  void drop_private_set(const std::string& name) override { keeper_->drop_private_set(name); }
  /// What a stage of the task leaves of the policy, for decisions and for the commands that are
  /// started from now on; until the next call.
  void limit_to(StageLimits limits);
  Keeper& keeper() { return *keeper_; }
  const SandboxProfile& profile() const { return profile_; }
  const Environment& environment() const override { return environment_; }
  /// What a git command gets beside it where Engine::holds_git(): the one repository that it may
  /// read, of which nothing is run. Empty in full-auto.
  const Environment& git_environment() const { return git_environment_; }
  const Engine& engine() const override { return *engine_; }
  /// The workspace as commands see it, for sortie's own file work.
  DiskFiles& view() { return *view_; }
  const std::filesystem::path& workspace() const override { return workspace_root(profile_); }
  /// What takes away the protected names that commands make; null where no mount guards those that
  /// are there either, or nobody can make any.
  MadePaths* made_paths() const noexcept { return made_paths_.get(); }
  /// Where outputs stand whole; "" for nowhere.
  const std::filesystem::path& outputs() const { return outputs_; }
  /// What of the sandbox is not to be had here, and why.
  const std::vector<std::string>& missing() const { return missing_; }
  /// Which folders of the caller's PATH commands do not have, why, and what to write instead; and
  /// that a tree is too large to look for all that is to be hidden.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Files of all repositories that commands are shown which may hold credentials.
  const std::vector<std::filesystem::path>& git_files() const { return git_files_; }
  /// The workspace's links before any command, relative to it, but those in node_modules.
  const std::set<std::filesystem::path>& links_at_start() const { return links_at_start_; }
  /// {"namespaces","landlock_abi","seccomp","cgroup","connect_gate","missing"}.
  Json layers_json() const;

 private:
  friend class ConcurrentCommandWatch;

  CommandPath make_environment(const ConfinementInputs& inputs, const Environment& own);
  void start_keeper(const ConfinementInputs& inputs);
  void show_git(const ConfinementInputs& inputs, const GitPrograms& programs);
  void clean_copies(const ConfinementInputs& inputs);
  Launcher& watch_made_paths();

  SandboxProfile profile_;
  std::filesystem::path outputs_;
  Environment environment_;
  Environment git_environment_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<MadePaths> made_paths_;
  std::unique_ptr<Launcher> looking_launcher_;  ///< over the keeper's, for made_paths_
  std::unique_ptr<ReadOnlyLauncher> launcher_;
  std::unique_ptr<DiskFiles> view_;
  std::vector<std::string> missing_;
  std::vector<std::string> warnings_;
  std::vector<std::filesystem::path> git_files_;
  std::set<std::filesystem::path> links_at_start_;
};

/// While it lives the engine asks there what runs beside a command.
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
/// "" or what the policy asks for and was not proved, in words.
std::string missing_guarantees(const Policy& policy, const std::vector<GuaranteeProof>& proofs);

}  // namespace sortie
