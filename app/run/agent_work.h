#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/artifacts/output_folder.h"
#include "app/run/acceptance.h"
#include "app/run/run_notes.h"
#include "app/run/run_record.h"
#include "app/run/signals.h"
#include "app/setup/agent.h"
#include "ci/result.h"
#include "core/agent/answer.h"
#include "core/agent/earlier_work.h"
#include "core/record/run_history.h"

namespace sortie {

/// The agent's work: one prompt or stage after stage, and round after round until it is accepted.
class AgentWork {
 public:
  /// Everything in it outlives the object.
  struct Parts {
    Agent::Parts agent;
    Acceptance& acceptance;
    RunTree& tree;
    RunNotes& notes;
    const OutputFolder& out;
    const Signals& signals;
    RunRecord& record;
    RunResult& result;
    /// As EarlierTurn::effects.
    std::function<CutOffEffects(const TurnCall*)> effects{};
  };
  /// The agent's last message.
  struct Answer {
    std::string text{};    ///< redacted, without a final newline; "" for none
    bool is_json = false;  ///< it is valid for the task's output schema
  };

  /// Puts the agent together.
  explicit AgentWork(const Parts& parts);
  AgentWork(const AgentWork&) = delete;
  AgentWork& operator=(const AgentWork&) = delete;

  /// @throws RunEnds  the work is not accepted or can't go on
  void run();
  /// Lets the agent write down what the next run should know.
  void take_notes();
  const std::string& last_message() { return agent_.loop().last_message(); }

  int end_background() { return agent_.end_background(); }
  /// Adds the current stage to the reason of a run that ended in it.
  void fail_stage();
  Answer take_answer();

 private:
  void ask(const std::string& text);
  void take_up(const RunHistory& history);
  void take_up_thread();
  void go_on();
  void judge(const LoopResult& result, bool answers);
  void run_stage(std::size_t index);
  bool resume_stage(std::size_t index);
  void restore_stage(std::size_t index);
  void save_message(const TaskStage& stage);
  void end_stage(const std::string& reason);
  bool needs_message(bool answers) const;
  void accept_without_message();

  Parts parts_;
  const RunInputs& inputs_;
  const Redactor& redactor_;
  Agent agent_;
  std::optional<AnswerCheck> answer_check_;    ///< if the task has an output schema
  bool answered_ = false;                      ///< the last message is valid for the schema
  std::optional<std::size_t> stage_;           ///< the current one
  int stage_began_ = 0;                        ///< the turn before it
  const RunHistory* earlier_ = nullptr;        ///< of the run that is resumed
  std::optional<EarlierTurn> earlier_turn_;    ///< its last one, until it is gone on with
  int earlier_number_ = 0;                     ///< of that turn
  std::vector<std::string> unsent_{};          ///< prompts of the thread that no request had
  std::optional<LoopResult> without_message_;  ///< how the turn ended, if it had no message
};

}  // namespace sortie
