#include "app/run/agent_work.h"

#include <utility>

#include "app/run/run_ends.h"
#include "core/files/file_name.h"
#include "core/model/failure.h"
#include "core/text/text.h"

namespace sortie {
namespace {

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
}

void AgentWork::run() {
  const auto& stages = inputs_.task.stages;
  if (stages.empty()) ask(inputs_.prompts.prompt);
  for (const TaskStage& stage : stages) parts_.result.stages.push_back({.name = stage.name});
  for (std::size_t i = 0; i < stages.size(); ++i) run_stage(i);
  // From here on, messages concern the whole task, without a stage's limits.
  if (!stages.empty()) agent_.leave_stage();
  for (;;) {
    const std::string feedback = parts_.acceptance.evaluate_end(agent_);
    if (feedback.empty()) return accept_without_message();
    ask(feedback);
  }
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
  const LoopResult result =
      run_to_answer(agent_.loop(), std::move(items), answers ? &*answer_check_ : nullptr,
                    parts_.record.events(), parts_.signals.token());
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
  agent_.enter_stage(stage);
  stage_ = index;
  stage_began_ = agent_.loop().turn();
  parts_.record.events().on({stage_began_, agent_.stage_record(prompt)});
  if (stage.verify) {
    // As at the end, with the run's own tools and sandbox for fixes.
    for (;;) {
      const std::string feedback = parts_.acceptance.evaluate_stage(agent_);
      if (feedback.empty()) break;
      ask(feedback);
    }
  } else {
    ask(prompt);
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
