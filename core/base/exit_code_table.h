#pragma once

#include <span>

#include "core/base/exit_code.h"

namespace sortie {

/// What is said of an exit code: status_word(), the manual and the schema of result.json come from
/// here.
struct ExitCodeRow {
  ExitCode code;
  const char* status;   ///< "task-failed"
  const char* meaning;  ///< in the manual: "task failed"
};

/// All there are, by their numbers.
std::span<const ExitCodeRow> exit_code_table() noexcept;

}  // namespace sortie
