#pragma once

#include "core/base/exit_code.h"
#include "policies/rules/policy.h"

namespace sortie {

/// `policy check --batch`: one JSON argv a line of stdin, exactly one line `allow` or `deny` each.
/// Answers are held back while more input is at hand, and given before it waits for more. A reader
/// that has gone ends it in silence, as what was left to say is of no use.
ExitCode check_batch(const Policy& policy);

}  // namespace sortie
