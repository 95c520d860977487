#pragma once

#include <optional>

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
/// @throws Error  ExitCode::integrity: a response can't be read
Resumption resumption_of(const RunHistory& history, const ModelSettings& settings,
                         const TaskModel& model);

/// Gives the inputs the run's own id, also in the prompts, and takes out the recorded responses that
/// it has had.
void take_up_inputs(const RunHistory& history, RunInputs& inputs);

}  // namespace sortie
