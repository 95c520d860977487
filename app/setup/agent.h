#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/setup/run_secrets.h"
#include "app/setup/run_services.h"
#include "core/agent/budget.h"
#include "core/agent/loop.h"
#include "core/base/clock.h"
#include "core/catalog/item.h"
#include "core/git/git_info.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"
#include "tools/saved_outputs.h"

namespace sortie {

/// The model, the tools and the loop of a run.
class Agent : public Background {
 public:
  /// All of it outlives the agent.
  struct Parts {
    const RunInputs& inputs;
    const RunOptions& options;
    const RunSecrets& secrets;
    Confinement& confinement;
    WorkSoFar& work;
    OwnTests& tests;
    const GitInfo& git;
    EventSink& events;
    Notices& notices;
    Clock& clock;
    Budget& budget;
    SavedOutputs& outputs;  ///< where outputs stand whole
    std::stop_token stop{};
  };
  explicit Agent(Parts parts);
  ~Agent() override;

  Loop& loop();
  /// The text as the next message; before the first one stands what a run begins with, and the
  /// task's images go with it.
  std::vector<Item> message(const std::string& text);
  /// Ends sessions, and the servers of tools whose programs may write; these are started anew with
  /// the agent's next turn.
  int end_background() override;
  /// From here on the stage's own tools, sandbox and limits hold.
  void enter_stage(const TaskStage& stage);
  /// Those of the run again.
  void leave_stage();
  /// Whether the message that ends what is under way is the run's final one, which the task's
  /// output schema is for.
  bool asks_for_answer() const;
  /// Of the stage that was entered.
  StageRecord stage_record(const std::string& prompt) const;
  /// For the operator: project docs that were cut, tools that are left out.
  const std::vector<std::string>& notes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A task's images as the first message has them.
///
/// @throws Error  code 2: the file of one holds a known secret, which can't be replaced in it
std::vector<Image> task_images(const std::vector<TaskImage>& images, const Redactor& redactor);

}  // namespace sortie
