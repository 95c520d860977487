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
#include "core/record/run_history.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"
#include "tools/saved_outputs.h"

namespace sortie {

/// The model, the tools and the loop of a run.
class Agent : public Background {
 public:
  /// Everything in it outlives the agent.
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
    SavedOutputs& outputs;  ///< keeps whole outputs
    std::stop_token stop{};
    std::shared_ptr<Http> connected{};  ///< for the first model (connect_to_model)
  };
  explicit Agent(Parts parts);
  ~Agent() override;

  Loop& loop();
  /// The text as the next message. The first one is preceded by the opening items of a run, unless
  /// it goes on with a thread, and has the task's images.
  std::vector<Item> message(const std::string& text);
  /// Ends sessions, and the MCP servers whose programs may write, which are restarted in the agent's
  /// next turn.
  int end_background() override;
  /// Goes on with what an earlier process of the run has done, before any message.
  void take_up(EarlierConversation earlier, const RunHistory& history);
  /// Applies the stage's own tools, sandbox and limits.
  /// @param turns_used  in it, by an earlier process of the run
  void enter_stage(const TaskStage& stage, int turns_used = 0);
  /// Applies those of the run again.
  void leave_stage();
  /// Whether the current prompt ends with the run's final message, to which the task's output schema
  /// applies.
  bool asks_for_answer() const;
  /// The event for the current stage.
  StageRecord stage_record(const std::string& prompt) const;
  /// For the operator: project docs that were cut, tools that are left out.
  const std::vector<std::string>& notes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A task's images, for the first message.
/// @throws Error  code 2: an image has a known secret, which can't be redacted in it
std::vector<Image> task_images(const std::vector<TaskImage>& images, const Redactor& redactor);

}  // namespace sortie
