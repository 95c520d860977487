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

/// What the tools of a run use; everything in it outlives them.
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
  SavedOutputs* outputs = nullptr;  ///< keeps whole outputs that are shown in part
  /// Runs the task's verification for the model that asks for it.
  std::function<RunTests::Outcome(std::stop_token)> run_tests{};
};

/// The tools that the task gives the run: the built-in ones in the order of their table, then the
/// others in the order of the task. The policy may hide some of them from the model.
/// @param notes  get a line for each tool that is left out
/// @throws Error  ExitCode::usage: the task lists a tool that this run can't have
std::vector<std::unique_ptr<Tool>> make_tools(const ToolSetParts& parts,
                                              std::vector<std::string>& notes);

/// Why make_tools() leaves out built-in tools, for a model that calls one anyway.
std::map<std::string, std::string> absent_tools(const ToolSetParts& parts);

}  // namespace sortie
