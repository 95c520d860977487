#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/show/log_style.h"
#include "ci/result.h"

namespace sortie {

/// The first two lines of a run, for people: the version, the model and its address, the task; the
/// policy and its approval, the sandbox, the budget.
/// @param result  with the isolation and the approval in force
std::vector<std::string> head_lines(const LogStyle& style, const RunInputs& inputs,
                                    const RunOptions& options, const RunResult& result);

/// The path as seen from the current folder, if it is inside.
std::string short_path(const std::filesystem::path& path);

/// The policy as people name it: its file as given, or the name of a preset.
std::string policy_name(const RunInputs& inputs, const RunOptions& options);

}  // namespace sortie
