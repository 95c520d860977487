#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_inputs.h"
#include "core/base/clock.h"
#include "core/git/git_info.h"
#include "core/process/launcher.h"
#include "core/secrets/redact.h"
#include "tools/commands/exec_sessions.h"
#include "tools/git/git_diff.h"
#include "tools/plain_tools.h"
#include "tools/saved_outputs.h"
#include "tools/tool.h"

namespace sortie {

/// What the tools of a run work with; all of it outlives them.
struct ToolSetParts {
  const RunInputs& inputs;
  Confinement& confinement;
  Launcher& launcher;
  const Redactor& redactor;
  const Clock& clock;
  const GitInfo& git;
  /// The run's diff as it is now.
  MakeDiff diff{};
  ExecSessions& sessions;
  SavedOutputs* outputs = nullptr;  ///< keeps the outputs that are shown in part
  /// Runs the task's verification for the model that asks for it.
  std::function<RunTests::Outcome(std::stop_token)> run_tests{};
};

/// The tools that the task gives the run: the built-in ones in the order of their table, then the
/// others in the order in which they were made. What of them the model is shown is the policy's
/// word besides.
/// @param notes  takes what the operator has to know: a tool that is left out
/// @throws Error  ExitCode::usage: the task lists a tool that this run can't have
std::vector<std::unique_ptr<Tool>> make_tools(const ToolSetParts& parts,
                                              std::vector<std::string>& notes);

/// Of the built-in tools that make_tools() leaves out: why, for a model that calls one
/// nevertheless.
std::map<std::string, std::string> absent_tools(const ToolSetParts& parts);

}  // namespace sortie
