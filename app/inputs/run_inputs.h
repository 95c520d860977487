#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/inputs/thread_run.h"
#include "core/agent/model_limits.h"
#include "core/json/json.h"
#include "core/provider/cassette.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/rates/rate_limits.h"
#include "core/task/task.h"
#include "core/task/variables.h"
#include "policies/environment/environment.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The inputs of a run, read once before it starts: files, flags, stdin.
struct RunInputs {
  Task task;  ///< with the flags' overrides, and the effective limits of its models
  std::string digest_of_file;  ///< of the task without flags and environment
  /// Limits and prices of the model and its fallbacks.
  std::vector<ModelLimits> terms;
  Policy policy;
  Approval approval = Approval::deny_by_default;
  std::string run_id;               ///< UUIDv7 (RFC 9562)
  ExpandedPrompts prompts;          ///< variables replaced
  Json variables;                   ///< name → digest of its value, for the run key
  std::filesystem::path workspace;  ///< absolute, links resolved
  /// The responses of a replay: read before --out is changed, where the recording may be.
  std::vector<RecordedStream> recorded;
  /// The content of --auth-file without its secrets; nothing if none is used.
  std::optional<AuthFileSummary> auth_file;
  std::string proxy_variable = "HTTPS_PROXY";  ///< the one that names the proxy to the models
  /// The limits that this run shares with others; nothing without --rate-limits.
  std::optional<RateLimits> rate_limits;
  /// Warnings, above all about risks that the policy accepts.
  std::vector<std::string> warnings;
  const ThreadRun* thread = nullptr;  ///< as RunOptions::thread
};

/// The id of the conversation for its provider: the thread's, else the run's.
inline const std::string& conversation_id(const RunInputs& inputs) {
  return inputs.thread != nullptr ? inputs.thread->id : inputs.run_id;
}

/// Whether the policy, or each of the stages, is read-only.
bool nothing_may_be_written(const RunInputs& inputs);

/// Whether the model's responses come from a recording.
bool replays(const RunInputs& inputs);

/// Whether the task's own model uses a sign-in instead of a key.
bool signs_in(const RunInputs& inputs);

/// A variable of this process's environment; "" if it is not set.
std::string own_variable(const std::string& name);

/// The task, the files that it names, and the policy's approver: protected during the run.
std::vector<std::filesystem::path> files_of_run(const Task& task, const Policy& policy);

/// HOME in the view: the caller's own path, since tools may have it hard-coded.
/// @param own  this process's environment
std::filesystem::path view_home(const Environment& own);

/// The policy's paths.read, absolute, with the links of existing parts resolved.
/// @param own  this process's environment, for "~"
std::vector<std::filesystem::path> folders_to_read(const Policy& policy,
                                                   const std::filesystem::path& workspace,
                                                   const Environment& own);

}  // namespace sortie
