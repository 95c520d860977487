#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/inputs/run_inputs.h"
#include "core/agent/earlier_work.h"
#include "core/model/model.h"
#include "core/record/run_history.h"
#include "core/task/task.h"

namespace sortie {

/// Where the conversation of a run goes on.
struct Resumption {
  EarlierConversation conversation{};
  std::optional<EarlierTurn> turn{};  ///< the last one of the conversation; nothing if none began
  int number = 0;                     ///< of that turn
};

/// Finds it in what an earlier process recorded.
/// @param settings  of the run's requests, with all its tools
/// @param older     responses of earlier runs, whose items stand in its requests
/// @throws Error  ExitCode::integrity: a response can't be read
Resumption resumption_of(const RunHistory& history, const ModelSettings& settings,
                         const TaskModel& model, const std::vector<Response>& older = {});

/// The responses of all its turns; those that can't be used have no items. @throws Error  as above
std::vector<Response> responses_of(const RunHistory& history, const ModelSettings& settings,
                                   const TaskModel& model);

/// What the model has to know of a tree that was made from a checkpoint.
/// @param turn      the last one whose changes are in it
/// @param left_out  changed paths that are not
/// @param place     the workspace, as commands see it
std::string restored_note(const RunHistory& history, int turn,
                          const std::vector<std::string>& left_out, const std::string& place);

/// Gives the inputs another run id, also in the prompts.
void set_run_id(RunInputs& inputs, const std::string& id);

/// Gives the inputs the run's own id, also in the prompts, and takes out the recorded responses that
/// it has had.
void take_up_inputs(const RunHistory& history, RunInputs& inputs);

}  // namespace sortie
