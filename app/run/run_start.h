#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/inputs/run_inputs.h"
#include "ci/result.h"
#include "core/git/git_info.h"
#include "core/record/run_events.h"
#include "core/workspace/workspace.h"
#include "policies/sandbox/canary.h"

namespace sortie {

/// What is known of this machine's namespaces.
enum class Namespaces {
  assumed,  ///< not probed: the keeper and the canary try the real thing at once
  proved,   ///< they work; each mount is probed before it is relied on
  none,     ///< refused here
};

/// The places that a run writes to, apart from its work.
struct RunPlaces {
  std::filesystem::path out;    ///< the folder that commands must not see: --out
  std::filesystem::path state;  ///< of the run
  /// What sortie writes to by its path, as own_outputs() names it: their folders stay where they are.
  std::vector<std::filesystem::path> outputs{};
};

/// Opens the workspace with the isolation that task and flags ask for. Forks to probe.
/// @throws Error  environment: nothing would keep commands from --out or from the threads of exec
std::unique_ptr<Workspace> open_run_workspace(const RunInputs& inputs, const RunPlaces& places,
                                              Namespaces namespaces);

/// What of the sandbox was begun before all of its inputs were known; null: nothing.
struct EarlyParts {
  EarlyKeeper* keeper = nullptr;
  EarlyGitView* git_view = nullptr;
};

/// Begins to look for what commands see of the repository, as long as nothing else is known of the run.
/// @param out  RunPlaces::out
/// @param own  this process's environment
std::unique_ptr<EarlyGitView> look_for_git_view(const RunInputs& inputs,
                                                const std::filesystem::path& out,
                                                const Environment& own);

/// The sandbox of the run. Forks the keeper.
/// @param files          that commands must not change
/// @param no_namespaces  why there are none; ""
/// @param own            this process's environment
/// @param started        ConfinementInputs::started
std::unique_ptr<Confinement> confine_run(const RunInputs& inputs, const RunPlaces& places,
                                         Workspace& workspace,
                                         std::vector<std::filesystem::path> files,
                                         Namespaces namespaces, const std::string& no_namespaces,
                                         const Environment& own,
                                         std::function<void(int keeper)> started, EarlyParts early);

/// What the policy leaves open at the operator's own risk, or "".
std::string open_risk(const Policy& policy);

/// Adds the files of the user's own tree that have a name outside of it to the protected ones: to write
/// to them would change the other name. More than can be protected are a warning.
void protect_linked(const Workspace& workspace, std::vector<std::filesystem::path>& files,
                    std::vector<std::string>& warnings);

/// Fills in what the event run.started says of the inputs, which are known before the sandbox is up.
void describe_inputs(const RunInputs& inputs, RunStart& start);
/// Fills in the rest.
void describe_start(const RunInputs& inputs, const RunResult& result, const GitInfo& git,
                    const Workspace& workspace, Confinement& confinement, RunStart& start);

/// The files that the stages will write to --out.
std::vector<std::string> names_saved(const Task& task);

/// Checks the base of the diff now, rather than when the work is done.
/// @throws InputError  output.diff.base is head, and there is no commit
void check_diff_base(const RunInputs& inputs);
/// @throws InputError, Error  output.diff.submodules names what is no submodule, or can't have a diff
void check_submodules(const RunInputs& inputs);

/// The folder of saved outputs, which is removed with the run's state.
std::filesystem::path make_outputs_folder(const std::filesystem::path& state);

/// Proves the guarantees by the canary. Without a sandbox it is not run: it would attack the machine
/// itself.
/// @param secrets    that commands must not find
/// @param meanwhile  is done while the canary runs
std::vector<GuaranteeProof> prove(SandboxMode mode, Confinement& confinement,
                                  const std::vector<std::string>& secrets,
                                  const std::function<void()>& meanwhile);

}  // namespace sortie
