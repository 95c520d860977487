#pragma once

#include <string>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"

namespace sortie {

/// The word of --expect-task and --expect-policy: "sha256:" and 64 lower-case hexadecimal digits.
bool is_digest(const std::string& word) noexcept;

/// Refuses another task or policy than the caller expects. The digest of the task in effect, with the
/// flags and the environment, is accepted as well as that of its file, since result.json names it.
/// @throws InputError  a digest differs; both are named
void check_expected(const RunOptions& options, const RunInputs& inputs);

}  // namespace sortie
