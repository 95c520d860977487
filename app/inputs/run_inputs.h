#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/model_limits.h"
#include "core/json/json.h"
#include "core/provider/cassette.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/task/task.h"
#include "core/task/variables.h"
#include "policies/environment/environment.h"
#include "policies/rules/policy.h"

namespace sortie {

/// What a run is made of, read once before it starts: files, flags, stdin.
struct RunInputs {
  Task task;  ///< with the flags' overrides, and with what is in force of its models
  /// What requests to the model and its fallbacks may hold and cost.
  std::vector<ModelLimits> terms;
  Policy policy;
  Approval approval = Approval::deny_by_default;
  std::string run_id;               ///< UUIDv7 (RFC 9562)
  ExpandedPrompts prompts;          ///< variables replaced
  Json variables;                   ///< name → digest of its value, for the run key
  std::filesystem::path workspace;  ///< absolute, links resolved
  /// What a replay answers with: read before --out is touched, where the recording may lie.
  std::vector<RecordedStream> recorded;
  /// What --auth-file holds, without its secrets; nothing where none is used.
  std::optional<AuthFileSummary> auth_file;
  /// What the policy allows at the operator's own risk: said loudly.
  std::vector<std::string> warnings;
};

/// Whether no part of the run may write: by the policy, or by each of its stages.
bool nothing_may_be_written(const RunInputs& inputs);

/// Whether the model's responses come from a recording.
bool replays(const RunInputs& inputs);

/// Whether the task's own model is asked in the name of a sign-in, rather than with a key.
bool signs_in(const RunInputs& inputs);

/// A variable of this process's environment; "" where it is not set.
std::string own_variable(const std::string& name);

/// The task and what it names, and the policy's approver: protected while the run lasts.
std::vector<std::filesystem::path> files_of_run(const Task& task, const Policy& policy);

/// HOME in the view: the caller's own path, so that tools that know it by heart find it.
/// @param own  this process's environment
std::filesystem::path view_home(const Environment& own);

/// The policy's paths.read, absolute, links resolved as far as they are there.
/// @param own  this process's environment, for "~"
std::vector<std::filesystem::path> folders_to_read(const Policy& policy,
                                                   const std::filesystem::path& workspace,
                                                   const Environment& own);

}  // namespace sortie
