#pragma once

#include <span>

#include "core/base/exit_code.h"

namespace sortie {

/// The texts of an exit code, used by status_word(), the manual and the schema of result.json.
struct ExitCodeRow {
  ExitCode code;
  const char* status;   ///< "task-failed"
  const char* meaning;  ///< in the manual: "task failed"
};

/// All exit codes, sorted by number.
std::span<const ExitCodeRow> exit_code_table() noexcept;

}  // namespace sortie
