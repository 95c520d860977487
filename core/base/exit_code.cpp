#include "core/base/exit_code.h"

namespace sortie {
namespace {

constexpr ExitCodeRow kExitCodes[] = {
    {ExitCode::success, "success",
     "the agent finished and everything that the task asks for holds, or there was nothing to do"},
    {ExitCode::task_failed, "task-failed",
     "verification failed, an expectation or the output's schema does not hold, or a change can't be in a diff"},
    {ExitCode::usage, "usage",
     "a flag, the task or the policy is wrong, or the task asks for more than the policy allows; nothing was started"},
    {ExitCode::denied, "denied", "a forbidden call, or too many denied ones"},
    {ExitCode::budget, "budget", "a limit was reached: turns, tool calls, tokens, cost or time"},
    {ExitCode::refused, "refused", "the model's provider refused the request for good"},
    {ExitCode::auth, "auth", "credentials are missing or refused"},
    {ExitCode::environment, "environment",
     "this machine can't give what the policy asks for, or has run out of something"},
    {ExitCode::integrity, "integrity",
     "a protected path was changed, or sortie verify found a difference"},
    {ExitCode::leak, "leak", "a known secret is in the diff or the final message"},
    {ExitCode::unavailable, "unavailable", "the provider failed after all retries"},
    {ExitCode::limited, "limited", "the provider's rate or usage limit"},
    {ExitCode::busy, "busy", "another run uses the same output folder"},
    {ExitCode::conflict, "conflict",
     "a file that the run changed was changed in the workspace meanwhile"},
    {ExitCode::internal, "internal", "a bug in sortie; please report it"},
    {ExitCode::interrupted, "interrupted", "SIGINT"},
    {ExitCode::terminated, "interrupted", "SIGTERM or SIGHUP"},
};

}  // namespace

std::span<const ExitCodeRow> exit_code_table() noexcept { return kExitCodes; }

const char* status_word(ExitCode code) noexcept {
  for (const ExitCodeRow& row : kExitCodes)
    if (row.code == code) return row.status;
  return "internal";
}

}  // namespace sortie
