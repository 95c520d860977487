#include "app/inputs/run_inputs.h"

#include <algorithm>

namespace sortie {

bool nothing_may_be_written(const RunInputs& inputs) {
  if (inputs.policy.sandbox == SandboxMode::read_only) return true;
  const auto& stages = inputs.task.stages;
  return !stages.empty() && std::all_of(stages.begin(), stages.end(), [](const TaskStage& stage) {
    return stage.sandbox == StageSandbox::read_only;
  });
}

bool replays(const RunInputs& inputs) { return inputs.task.model.provider == "replay"; }

bool signs_in(const RunInputs& inputs) { return inputs.auth_file && inputs.auth_file->is_sign_in; }

}  // namespace sortie
