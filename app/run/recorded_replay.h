#pragma once

#include <filesystem>

#include "core/base/exit_code.h"

namespace sortie {

/// Makes again what sortie itself makes of a run's record, without a workspace, a sandbox or any
/// program, and compares: the items and calls of each response, decoded again from the wire's own
/// JSON; the decision of the recorded policy on each call; and, as check_run() has done before, the
/// result, the attestation, and the diff on as much of the base as the record has. Prints the result.
/// @param path  a run's output folder or its transcript, which check_run() has checked
/// @return      success or integrity
/// @throws Error  integrity: the transcript can't be read
ExitCode replay_record(const std::filesystem::path& path);

}  // namespace sortie
