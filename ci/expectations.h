#pragma once

#include <string>

#include "ci/tally.h"
#include "core/task/task.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// Resolves `automatic`: changes are required, but forbidden in a read-only sandbox, and optional
/// if the result is the final message.
/// @return  one of the others
ExpectedChanges expected_changes(ExpectedChanges expected, bool read_only_sandbox,
                                 bool has_output_schema);

// Each judge returns "", or the problem, worded for the agent and the operator.

/// Checks whether there are changes as the task expects.
/// @param expected  not `automatic`
std::string judge_changes(ExpectedChanges expected, bool has_changes);

/// Checks a diff against `expect.diff`.
std::string judge_diff(const ExpectedDiff& expected, const Diff& diff);

/// Checks `expect.tool_success` on the calls of a run so far.
std::string judge_calls(bool tool_success, const Tally& tally);

}  // namespace sortie
