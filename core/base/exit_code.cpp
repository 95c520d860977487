#include "core/base/exit_code.h"

namespace sortie {
namespace {

constexpr ExitCodeRow kExitCodes[] = {
    {ExitCode::success, "success", "success"},
    {ExitCode::task_failed, "task-failed", "task failed"},
    {ExitCode::usage, "usage", "usage"},
    {ExitCode::denied, "denied", "denied"},
    {ExitCode::budget, "budget", "budget"},
    {ExitCode::refused, "refused", "refused by the provider"},
    {ExitCode::auth, "auth", "credentials"},
    {ExitCode::environment, "environment", "environment"},
    {ExitCode::integrity, "integrity", "integrity"},
    {ExitCode::leak, "leak", "leak"},
    {ExitCode::unavailable, "unavailable", "provider unavailable"},
    {ExitCode::limited, "limited", "rate or usage limit"},
    {ExitCode::busy, "busy", "busy"},
    {ExitCode::conflict, "conflict", "conflict"},
    {ExitCode::internal, "internal", "a bug in sortie"},
    {ExitCode::interrupted, "interrupted", "interrupted"},
    {ExitCode::terminated, "interrupted", "interrupted"},
};

}  // namespace

std::span<const ExitCodeRow> exit_code_table() noexcept { return kExitCodes; }

const char* status_word(ExitCode code) noexcept {
  for (const ExitCodeRow& row : kExitCodes)
    if (row.code == code) return row.status;
  return "internal";
}

}  // namespace sortie
