#include "core/base/exit_code.h"

namespace sortie {

const char* status_word(ExitCode code) noexcept {
  switch (code) {
    case ExitCode::success:
      return "success";
    case ExitCode::task_failed:
      return "task-failed";
    case ExitCode::usage:
      return "usage";
    case ExitCode::denied:
      return "denied";
    case ExitCode::budget:
      return "budget";
    case ExitCode::refused:
      return "refused";
    case ExitCode::auth:
      return "auth";
    case ExitCode::environment:
      return "environment";
    case ExitCode::integrity:
      return "integrity";
    case ExitCode::leak:
      return "leak";
    case ExitCode::unavailable:
      return "unavailable";
    case ExitCode::limited:
      return "limited";
    case ExitCode::busy:
      return "busy";
    case ExitCode::conflict:
      return "conflict";
    case ExitCode::internal:
      return "internal";
    case ExitCode::interrupted:
    case ExitCode::terminated:
      return "interrupted";
  }
  return "internal";
}

}  // namespace sortie
