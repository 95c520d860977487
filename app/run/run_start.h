#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/inputs/run_inputs.h"
#include "ci/result.h"
#include "core/git/git_info.h"
#include "core/record/events.h"
#include "core/workspace/workspace.h"
#include "policies/sandbox/canary.h"

namespace sortie {

/// What is known of this machine's namespaces.
enum class Namespaces {
  assumed,  ///< not probed: the keeper and the canary try the real thing at once
  proved,   ///< they work; each mount is probed before it is relied on
  none,     ///< refused here
};

/// Opens the workspace with the isolation that task and flags ask for. Forks to probe.
std::unique_ptr<Workspace> open_run_workspace(const RunInputs& inputs,
                                              const std::filesystem::path& out,
                                              const std::filesystem::path& state,
                                              Namespaces namespaces);

/// What run.started tells.
RunStart describe_start(const RunInputs& inputs, const RunResult& result, const GitInfo& git,
                        const Workspace& workspace, Confinement& confinement);

/// What the stages will put into --out.
std::vector<std::string> names_saved(const Task& task);

/// What would only come out when the work is done.
/// @throws InputError  output.diff.base is head, and there is no commit
void check_diff_base(const RunInputs& inputs);

/// Where outputs stand whole while the run lasts: gone with its state.
std::filesystem::path make_outputs_folder(const std::filesystem::path& state);

/// With nothing around it the canary would try all its ways out on the machine itself.
std::vector<GuaranteeProof> proofs_without_sandbox();

}  // namespace sortie
