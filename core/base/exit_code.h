#pragma once

#include <span>

namespace sortie {

/// The status a run ends with, and the program's exit code. 1 to 9 and 70: a retry by itself is
/// not expected to help; 10 to 19 and the signals: it is.
///
/// Source: docs/exit-codes.md.
enum class ExitCode : int {
  success = 0,
  task_failed = 1,
  usage = 2,
  denied = 3,
  budget = 4,
  refused = 5,
  auth = 6,
  environment = 7,
  integrity = 8,
  leak = 9,
  unavailable = 10,
  limited = 11,
  busy = 12,
  conflict = 13,
  internal = 70,
  interrupted = 130,
  terminated = 143,
};

/// The status word of result.json: "success", "task-failed", "usage", …
const char* status_word(ExitCode code) noexcept;

/// Whether the same command may succeed when it is started again unchanged.
constexpr bool is_retryable(ExitCode code) noexcept {
  const int number = static_cast<int>(code);
  return (number >= 10 && number <= 19) || number == 130 || number == 143;
}

/// The texts of an exit code, used by status_word(), the manual and the schema of result.json.
struct ExitCodeRow {
  ExitCode code;
  const char* status;   ///< "task-failed"
  const char* meaning;  ///< for the manual: what has happened
};

/// All exit codes, sorted by number.
std::span<const ExitCodeRow> exit_code_table() noexcept;

}  // namespace sortie
