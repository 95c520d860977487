#include "app/artifacts/artifacts.h"
#include "app/artifacts/diff_verdict.h"
#include "app/run/carry_over.h"
#include "app/run/run_steps.h"
#include "core/agent/answer.h"
#include "core/agent/loop.h"
#include "core/files/file_name.h"
#include "core/model/failure.h"
#include "core/text/text.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/diff/touched_paths.h"
#include "core/workspace/tree.h"
#include "policies/sandbox/keeper/keeper.h"

namespace sortie {
namespace {

/// Of a request that stays refused: all images but the task's own are out of it by then.
std::string refused_images(const LoopResult& result, const std::vector<TaskImage>& images) {
  if (result.kind != kImageRefused || images.empty()) return "";
  std::string files;
  for (const TaskImage& image : images)
    files += (files.empty() ? "" : ", ") + one_line(image.path.string(), 200);
  return (images.size() == 1 ? " (the image of the task: " : " (the images of the task: ") + files +
         ")";
}

}  // namespace

/// The agent's work and its verification: the one prompt, or stage after stage, and at the end
/// round after round until what the task expects holds.
void Run::work() {
  start_agent();
  const auto& stages = inputs_.task.stages;
  if (stages.empty()) ask(inputs_.prompts.prompt);
  for (const TaskStage& stage : stages) result_.stages.push_back({.name = stage.name});
  for (std::size_t i = 0; i < stages.size(); ++i) run_stage(i);
  // What is asked from here on concerns the whole task: no stage's limits hold for it.
  if (!stages.empty()) agent_->leave_stage();
  for (;;) {
    const std::string feedback = judge_end();
    if (feedback.empty()) return judge_silence();
    ask(feedback);
  }
}

void Run::start_agent() {
  agent_ = std::make_unique<Agent>(Agent::Parts{
      inputs_,
      options_,
      keys_,
      sign_in_,
      proxy_,
      *confinement_,
      protected_paths_.get(),
      git_,
      events_,
      redactor_,
      clock_,
      budget_,
      [this](std::stop_token stop) { return run_tests(stop); },
      [this](const std::string& text) { progress_->say(text); },
      environment_,
      stop(),
      outputs_.get(),
      [this](const std::string& only, const Pace& pace) {
        return make_diff(*workspace_, confinement_->view(), inputs_.workspace,
                         draft_options(inputs_, only, pace));
      },
      [this] { return workspace_->changed_paths(confinement_->view()); },
      [touched = std::make_shared<TouchedPaths>(*workspace_)] { return touched->take(); },
      [this] { return find_led_elsewhere(); }});
  for (const auto& note : agent_->notes()) progress_->say(note);
  if (inputs_.task.output.schema) answer_check_.emplace(*inputs_.task.output.schema);
}

/// Of an agent that ended without a word: what it did may stand, but nothing done is no work.
void Run::judge_silence() {
  if (!without_message_) return;
  if (diff_->text.empty()) throw RunEnds{without_message_->code, without_message_->reason, ""};
  const std::string warning =
      without_message_->reason + ": what it has changed was judged without a final message";
  result_.warnings.push_back(warning);
  progress_->warn(warning);
}

/// Sends a message and lets the agent work until it ends its turn.
void Run::ask(const std::string& text) {
  const bool answers = answer_check_ && agent_->asks_for_answer();
  std::vector<Item> items = agent_->message(text);
  if (!old_notes_.empty())  // before the first prompt
    items.insert(items.end() - 1,
                 notes_message(inputs_.task.context.carry_over, old_notes_, redactor_));
  old_notes_.clear();
  const LoopResult result = run_to_answer(agent_->loop(), std::move(items),
                                          answers ? &*answer_check_ : nullptr, events_, stop());
  answered_ = answers && result.code == ExitCode::success;
  end_if_stopped();
  without_message_.reset();
  if (result.code == ExitCode::success) return;
  const auto& stages = inputs_.task.stages;
  const bool needs_message =
      answers || (stage_ && (*stage_ + 1 < stages.size() || !stages[*stage_].save.empty()));
  if (result.kind == kNoMessage && !needs_message) {
    // The work may be done all the same: the tree is judged, not the silence.
    without_message_ = result;
    return;
  }
  result_.retry_after = result.retry_after;
  throw RunEnds{result.code, result.reason + refused_images(result, inputs_.task.images),
                result.next};
}

void Run::run_stage(std::size_t index) {
  const TaskStage& stage = inputs_.task.stages[index];
  const std::string& prompt = inputs_.prompts.stages[index];
  agent_->enter_stage(stage);
  stage_ = index;
  stage_began_ = agent_->loop().turn();
  events_.on(stage_started_event(stage_began_, agent_->stage_record(prompt)));
  if (stage.verify) {
    verify_stage();
  } else {
    ask(prompt);
    save_message(stage);
  }
  end_stage("");
}

/// The task's verification in the midst of the stages: as at the end, with the run's own tools and
/// sandbox for what is to be mended.
void Run::verify_stage() {
  for (;;) {
    const std::string feedback = judge_verification();
    if (feedback.empty()) break;
    ask(feedback);
  }
  verified_tree_ = tree_stamp(confinement_->keeper().view_root());
}

void Run::save_message(const TaskStage& stage) {
  if (stage.save.empty()) return;
  const std::string text = redactor_.text(agent_->loop().last_message()) + "\n";
  out_.write(stage.save, text);
  result_.artifacts[stage.save] = digest_of(text);
}

/// @param reason  "" where it ended as it should
void Run::end_stage(const std::string& reason) {
  RunResult::Stage& stage = result_.stages[*std::exchange(stage_, {})];
  const int turn = agent_->loop().turn();
  stage.turns = turn - stage_began_;
  stage.ended = reason.empty() ? "completed" : "failed";
  events_.on(stage_completed_event(turn, stage.name, reason, stage.turns));
}

/// Whether nothing was written to since the verification of a stage passed.
bool Run::tree_is_as_verified() const {
  return verified_tree_ && verified_tree_ == tree_stamp(confinement_->keeper().view_root());
}

/// Of a run that ended in the midst of a stage: the cause names it. What was verified has to be the
/// tree that the run leaves.
void Run::fail_stage() {
  if (!stage_) return;
  if (verified_tree_ && !tree_is_as_verified()) result_.verified.reset();
  const std::string reason = redactor_.text(result_.reason);
  result_.reason = "stage '" + inputs_.task.stages[*stage_].name + "': " + result_.reason;
  end_stage(reason);
}

/// Runs the verification, if there is one.
/// @return  what goes back to the agent, or ""
std::string Run::judge_verification() {
  if (inputs_.task.verify.commands.empty()) return {};
  const int round = ++result_.verification_rounds;
  // One that does not come to its end says nothing, and what an earlier one said holds no more.
  result_.verified.reset();
  result_.verification.reset();
  result_.verification = verify_whole("after", round);
  result_.verified = result_.verification->passed;
  if (result_.verification->passed) return {};
  count_failure("verification failed after " + std::to_string(round) +
                (round == 1 ? " round" : " rounds"));
  return verification_feedback(*result_.verification, failed_rounds_, inputs_.task.verify.rounds);
}

/// Ends the run where the rounds are used up.
void Run::count_failure(const std::string& reason) {
  if (++failed_rounds_ >= inputs_.task.verify.rounds) throw RunEnds{ExitCode::task_failed, reason};
}

/// What must hold at the end, in its order. A verification that passed in a stage stands as long as
/// nothing in the tree was written to since.
std::string Run::judge_end() {
  end_background();
  if (!tree_is_as_verified()) {
    verified_tree_.reset();
    if (const std::string feedback = judge_verification(); !feedback.empty()) return feedback;
  }
  make_result_diff([this] { end_if_over("while the diff was made"); });
  check_still_verified();
  if (!diff_->conflicts.empty())
    throw RunEnds{
        ExitCode::conflict,
        "changed in the workspace too since the start: " + some_of(diff_->conflicts),
        "partial.diff has the work, and kept/ these files; apply it by hand, or run again"};
  std::string feedback = undiffable_changes(*diff_);
  if (!feedback.empty()) {
    count_failure(feedback);
    return feedback +
           " Take them back, or make them in another way, then end with your final message.";
  }
  feedback =
      judge_changes(expected_changes(inputs_.task.expect.changes, nothing_may_be_written(inputs_),
                                     inputs_.task.output.schema.has_value()),
                    !diff_->text.empty());
  if (!feedback.empty()) count_failure(feedback);
  return feedback;
}

}  // namespace sortie
