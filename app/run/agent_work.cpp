#include "app/run/agent_work.h"

#include <utility>

#include "app/run/resumption.h"
#include "app/run/run_ends.h"
#include "app/run/thread_history.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/model/failure.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::uint64_t kMostSavedBytes = 64u << 20;

/// Names the task's images if the provider refuses an image: all others have been removed by then.
std::string refused_images(const LoopResult& result, const std::vector<TaskImage>& images) {
  if (result.kind != kImageRefused || images.empty()) return "";
  std::string files;
  for (const TaskImage& image : images)
    files += (files.empty() ? "" : ", ") + one_line(image.path.string(), 200);
  return (images.size() == 1 ? " (the image of the task: " : " (the images of the task: ") + files +
         ")";
}

}  // namespace

AgentWork::AgentWork(const Parts& parts)
    : parts_(parts),
      inputs_(parts.agent.inputs),
      redactor_(parts.agent.secrets.redactor()),
      agent_(parts.agent) {
  for (const auto& note : agent_.notes()) parts_.record.say(note);
  if (const auto& schema = inputs_.task.output.schema) answer_check_.emplace(*schema);
  if (const auto& earlier = parts_.record.earlier())
    take_up(*earlier);
  else if (inputs_.thread != nullptr && !inputs_.thread->earlier.empty())
    take_up_thread();
}

/// Begins with the history of the thread's earlier runs.
void AgentWork::take_up_thread() {
  ThreadConversation earlier = thread_conversation(
      inputs_.thread->earlier, agent_.loop().settings(), inputs_.task.model);
  if (earlier.sent) agent_.loop().restore(std::move(*earlier.sent));
  unsent_ = std::move(earlier.unsent);
}

void AgentWork::take_up(const RunHistory& history) {
  earlier_ = &history;
  Resumption earlier = resumption_of(history, agent_.loop().settings(), inputs_.task.model);
  agent_.take_up(std::move(earlier.conversation), history);
  if (!earlier.turn) return;
  earlier_number_ = earlier.number;
  earlier_turn_ = std::move(earlier.turn);
  earlier_turn_->effects = parts_.effects;
  if (const auto& restored = parts_.tree.restored())
    earlier_turn_->note = restored_note(history, restored->turn, restored->left_out,
                                        parts_.agent.confinement.workspace().string());
}

void AgentWork::run() {
  const auto& stages = inputs_.task.stages;
  if (stages.empty() && earlier_turn_)
    go_on();
  else if (stages.empty())
    ask(inputs_.prompts.prompt);
  for (const TaskStage& stage : stages) parts_.result.stages.push_back({.name = stage.name});
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (!resume_stage(i)) run_stage(i);
  // From here on, messages concern the whole task, without a stage's limits.
  if (!stages.empty()) agent_.leave_stage();
  if (earlier_turn_) go_on();
  for (;;) {
    const std::string feedback = parts_.acceptance.evaluate_end(agent_);
    if (feedback.empty()) return accept_without_message();
    ask(feedback);
  }
}

/// Takes a stage that an earlier process has begun as far as that came.
/// @return  whether nothing is left of it to do
bool AgentWork::resume_stage(std::size_t index) {
  if (earlier_ == nullptr || index >= earlier_->stages.size()) return false;
  const RecordedStage& recorded = earlier_->stages[index];
  // One that failed ended the run, which goes on in it.
  if (!recorded.end || !recorded.end->reason.empty()) return false;
  restore_stage(index);
  return true;
}

void AgentWork::restore_stage(std::size_t index) {
  const RecordedStage& recorded = earlier_->stages[index];
  const TaskStage& stage = inputs_.task.stages[index];
  RunResult::Stage& result = parts_.result.stages[index];
  result.turns = recorded.end->turns;
  result.ended = "completed";
  const int began =
      recorded.turns_before > 0 ? earlier_->turns[recorded.turns_before - 1].number : 0;
  if (earlier_turn_ && earlier_number_ <= began + recorded.end->turns) {
    // Its last response belongs to the conversation; nothing is left to do for it.
    agent_.enter_stage(stage, result.turns);
    go_on();
  }
  if (stage.save.empty()) return;
  const TextFile saved = read_bytes_file(parts_.out.path() / stage.save, kMostSavedBytes);
  if (!saved.problem.empty())
    throw Error(stage.save + ", which the stage '" + stage.name + "' has saved: " + saved.problem +
                    "; --fresh begins anew",
                ExitCode::environment);
  parts_.result.artifacts[stage.save] = "sha256:" + sha256_hex(saved.text);
}

/// Accepts the changes of an agent that ended without a message; without changes the run fails.
void AgentWork::accept_without_message() {
  if (!without_message_) return;
  if (parts_.tree.diff()->text.empty())
    throw RunEnds{without_message_->code, without_message_->reason, without_message_->next,
                  without_message_->kind};
  parts_.record.warn(without_message_->reason +
                     ": what it has changed was judged without a final message");
}

/// Sends a message and lets the agent work until it ends its turn.
void AgentWork::ask(const std::string& text) {
  const bool answers = answer_check_ && agent_.asks_for_answer();
  std::vector<Item> items = agent_.message(text);
  if (auto notes = parts_.notes.take_message(redactor_))  // before the first prompt
    items.insert(items.end() - 1, std::move(*notes));
  for (const std::string& prompt : std::exchange(unsent_, {}))
    items.insert(items.end() - 1, Item{Message{Message::Role::user, redactor_.text(prompt)}});
  judge(run_to_answer(agent_.loop(), std::move(items), answers ? &*answer_check_ : nullptr,
                      parts_.record.events(), parts_.signals.token()),
        answers);
}

/// Goes on with the last turn of an earlier process, until the agent ends its turn.
void AgentWork::go_on() {
  const bool answers = answer_check_ && agent_.asks_for_answer();
  parts_.notes.take_message(redactor_);  // the model has them
  judge(
      run_to_answer(agent_.loop(), {}, answers ? &*answer_check_ : nullptr, parts_.record.events(),
                    parts_.signals.token(), std::exchange(earlier_turn_, {})),
      answers);
}

void AgentWork::judge(const LoopResult& result, bool answers) {
  answered_ = answers && result.code == ExitCode::success;
  end_if_stopped(parts_.signals);
  without_message_.reset();
  if (result.code == ExitCode::success) return;
  if (result.kind == kNoMessage && !needs_message(answers)) {
    // The work may still be done: the tree decides.
    without_message_ = result;
    return;
  }
  parts_.result.retry_after = result.retry_after;
  throw RunEnds{result.code, result.reason + refused_images(result, inputs_.task.images),
                result.next, result.kind};
}

/// Whether the run needs the final message of the current prompt.
bool AgentWork::needs_message(bool answers) const {
  const auto& stages = inputs_.task.stages;
  return answers || (stage_ && (*stage_ + 1 < stages.size() || !stages[*stage_].save.empty()));
}

void AgentWork::run_stage(std::size_t index) {
  const TaskStage& stage = inputs_.task.stages[index];
  const std::string& prompt = inputs_.prompts.stages[index];
  const bool begun = earlier_ != nullptr && index < earlier_->stages.size();
  stage_began_ = agent_.loop().turn();
  if (begun) {
    const std::size_t before = earlier_->stages[index].turns_before;
    stage_began_ = before > 0 ? earlier_->turns[before - 1].number : 0;
  }
  agent_.enter_stage(stage, agent_.loop().turn() - stage_began_);
  stage_ = index;
  if (!begun) parts_.record.events().on({stage_began_, agent_.stage_record(prompt)});
  const bool resumed = begun && earlier_turn_ && earlier_number_ > stage_began_;
  if (resumed) go_on();
  if (stage.verify) {
    // As at the end, with the run's own tools and sandbox for fixes.
    for (;;) {
      const std::string feedback = parts_.acceptance.evaluate_stage(agent_);
      if (feedback.empty()) break;
      ask(feedback);
    }
  } else {
    if (!resumed) ask(prompt);
    save_message(stage);
  }
  end_stage("");
}

void AgentWork::save_message(const TaskStage& stage) {
  if (stage.save.empty()) return;
  const std::string text = redactor_.text(last_message()) + "\n";
  parts_.result.artifacts[stage.save] = parts_.out.write(stage.save, text);
}

/// @param reason  why it failed; "" for success
void AgentWork::end_stage(const std::string& reason) {
  RunResult::Stage& stage = parts_.result.stages[*std::exchange(stage_, {})];
  const int turn = agent_.loop().turn();
  stage.turns = turn - stage_began_;
  stage.ended = reason.empty() ? "completed" : "failed";
  parts_.record.events().on({turn, StageCompleted{stage.name, reason, stage.turns}});
}

void AgentWork::fail_stage() {
  if (!stage_) return;
  parts_.acceptance.doubt_changed_tree();
  const std::string reason = redactor_.text(parts_.result.reason);
  parts_.result.reason =
      "stage '" + inputs_.task.stages[*stage_].name + "': " + parts_.result.reason;
  end_stage(reason);
}

/// The work is done by now, so a failure here is only a warning.
void AgentWork::take_notes() {
  if (!parts_.notes.are_kept()) return;
  std::string why_not;
  const std::string text =
      agent_.loop().side_request(kRunNotesRequest, why_not, parts_.signals.token());
  if (const auto secret = redactor_.find(text); !secret.empty())
    why_not = "they would contain the value of " + secret;
  if (why_not.empty())
    parts_.notes.set(redactor_.text(text));
  else
    parts_.result.warnings.push_back("context.carry_over: the notes stay as they were: " + why_not);
}

AgentWork::Answer AgentWork::take_answer() {
  return {.text = redactor_.text(agent_.loop().take_last_message()),
          .is_json = answer_check_ && answered_};
}

}  // namespace sortie
