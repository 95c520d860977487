#include "core/agent/loop.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sortie {
namespace {

constexpr int kMostCorrections = 3;
constexpr int kMostBadWords = 3;
constexpr int kMostIncomplete = 2;
constexpr int kMostReasoningOnly = 1;
constexpr int kMostPaused = 10;

std::size_t bytes_of(const ModelSettings& settings) {
  std::size_t bytes = settings.instructions.size();
  for (const ToolSpec& tool : settings.tools)
    bytes += tool.name.size() + tool.description.size() + tool.grammar.size() +
             write_json(tool.parameters).size();
  return bytes;
}

bool same_tools(const std::vector<ToolSpec>& one, const std::vector<ToolSpec>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const ToolSpec& a, const ToolSpec& b) { return a.name == b.name; });
}

/// What a call's verdict ends the run with, if it does.
std::optional<LoopResult> end_by(const CallResult& result) {
  switch (result.verdict) {
    case CallVerdict::go_on:
      return {};
    case CallVerdict::forbidden:
      return LoopResult{.code = ExitCode::denied, .reason = result.reason, .kind = "forbidden"};
    case CallVerdict::too_many_denials:
      return LoopResult{
          .code = ExitCode::denied, .reason = result.reason, .kind = "too_many_denials"};
    case CallVerdict::protected_path_changed:
      return LoopResult{
          .code = ExitCode::integrity, .reason = result.reason, .kind = "protected_path_changed"};
  }
  return LoopResult{.code = ExitCode::internal, .reason = "unknown verdict of a tool call"};
}

LoopResult stopped() {
  return {.code = ExitCode::interrupted, .reason = "stopped by a signal", .kind = "stopped"};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace

/// Tells of a request while it is under way.
class Loop::Recorder : public StreamSink {
 public:
  explicit Recorder(const Loop& loop) : loop_(loop) {}
  void on_request(const RequestRecord& request, int attempt) override {
    tell(model_request_event(loop_.turn_, request, attempt, loop_.history_.items()));
  }
  void on_retry(const RetryRecord& retry) override { tell(model_retry_event(loop_.turn_, retry)); }
  void on_fallback(const FallbackRecord& fallback) override {
    tell(model_fallback_event(loop_.turn_, fallback));
  }
  void on_progress(std::uint64_t) override {}

 private:
  void tell(const RunEvent& event) { loop_.parts_.events.on(event); }
  const Loop& loop_;
};

Loop::Loop(Parts parts, ModelSettings settings) : parts_(parts), settings_(std::move(settings)) {
  settings_.tools = parts_.tools.specs();
  fixed_bytes_ = bytes_of(settings_);
}

void Loop::begin_stage(StageSettings stage) {
  ModelSettings next = settings_;
  next.instructions = stage.instructions;
  next.tools = parts_.tools.specs();
  next.output_schema = stage.output_schema;
  if (next.instructions != settings_.instructions || !same_tools(next.tools, settings_.tools) ||
      next.output_schema.has_value() != settings_.output_schema.has_value())
    ++stage_epoch_;
  settings_ = std::move(next);
  fixed_bytes_ = bytes_of(settings_);
  stage_ = std::move(stage);
  stage_turns_ = 0;
  stage_noticed_ = false;
}

LoopResult Loop::run(std::vector<Item> items, std::stop_token stop) {
  for (Item& item : items) history_.add(std::move(item));
  corrections_ = bad_words_ = incomplete_ = reasoning_only_ = paused_ = 0;
  for (;;)
    if (auto end = one_turn(stop)) return *end;
}

std::optional<LoopResult> Loop::one_turn(std::stop_token stop) {
  if (stop.stop_requested()) return stopped();
  if (auto end = begin_turn()) return end;
  Response response;
  try {
    response = ask(stop);
  } catch (const Stopped&) {
    return stopped();
  } catch (const ModelError& error) {
    // A request cut off by the deadline of the whole run failed for want of time.
    if (error.code() == ExitCode::unavailable)
      if (const auto up = parts_.budget.time_up()) return exhausted(*up);
    if (error.code() == ExitCode::budget) {
      LoopResult end = exhausted(parts_.budget.time_spent());
      end.reason = error.what();
      return end;
    }
    return LoopResult{.code = error.code(),
                      .reason = error.what(),
                      .kind = error.kind(),
                      .retry_after = error.retry_after()};
  }
  return take(std::move(response), stop);
}

std::optional<LoopResult> Loop::begin_turn() {
  if (const auto notice = parts_.budget.take_notice()) tell_model(*notice);
  if (const auto notice = stage_notice()) tell_model(*notice);
  const std::int64_t estimate = history_.estimated_tokens(fixed_bytes_);
  if (const auto out = parts_.budget.before_request(estimate, settings_.max_output_tokens))
    return exhausted(*out);
  if (const auto out = stage_spent()) return exhausted(*out);
  ++turn_;
  ++stage_turns_;
  parts_.budget.count_turn();
  parts_.events.on(
      turn_started_event(turn_, history_.items().size(), estimate, parts_.budget.left_json()));
  return {};
}

Response Loop::ask(std::stop_token stop) {
  const std::int64_t estimate = history_.estimated_tokens(fixed_bytes_);
  Recorder recorder(*this);
  const Request request{settings_, history_.items(), history_.epoch() + stage_epoch_};
  Response response = parts_.model.ask(request, recorder, parts_.budget.deadline(), stop);
  parts_.events.on(model_response_event(turn_, response));
  if (response.usage) {
    parts_.budget.count_tokens(*response.usage);
    history_.measured(response.usage->input_tokens, estimate);
  }
  return response;
}

std::optional<LoopResult> Loop::take(Response response, std::stop_token stop) {
  const std::string words = judge_words(response);
  std::vector<ToolCall> calls;
  std::string message;
  for (Item& item : response.items) {
    if (const auto* call = std::get_if<ToolCall>(&item.content)) calls.push_back(*call);
    const auto* text = std::get_if<Message>(&item.content);
    if (text && text->role == Message::Role::assistant && !text->text.empty())
      message += (message.empty() ? "" : "\n") + text->text;
    history_.add(std::move(item));
  }
  if (!message.empty()) last_message_ = message;

  if (words.empty()) {
    if (auto end = run_calls(calls, stop)) return end;
  } else {
    for (const ToolCall& call : calls)
      answer(call, "Not run: the message that came with it is sent back.", "not_run");
    tell_model(words);
  }
  if (!response.findings.empty()) return correct(response.findings);
  corrections_ = 0;
  if (!words.empty()) return {};
  if (response.incomplete)
    return go_on(
        incomplete_, kMostIncomplete,
        {.check = "incomplete",
         .saw = response.stop_reason,
         // Half a JSON text and its other half in two messages would be no JSON text.
         .message = settings_.output_schema && calls.empty()
                        ? "Your response was cut off at its length limit. If it was your final "
                          "message, send it again, whole and shorter; else go on."
                        : "Your response was cut off at its length limit. Go on from where it "
                          "ended.",
         .failure = "the model's response was cut off at its length limit three times",
         .next = "a larger model.max_output_tokens in the task"});
  incomplete_ = 0;
  // The provider goes on from what it sent, and takes no word in between.
  if (response.paused && ++paused_ <= kMostPaused) return {};
  if (response.paused)
    return LoopResult{.code = ExitCode::refused,
                      .reason = "the provider paused its response more than " +
                                std::to_string(kMostPaused) + " times in a row",
                      .kind = "paused"};
  paused_ = 0;
  if (calls.empty() && message.empty())
    return go_on(reasoning_only_, kMostReasoningOnly,
                 {.check = "reasoning_only",
                  .saw = "a response with neither a message nor a tool call",
                  .message = "Your response held neither a message nor a tool call. Go on with the "
                             "task, or end with your final message.",
                  .failure = "the model answered twice with neither a message nor a tool call"});
  reasoning_only_ = 0;
  if (calls.empty()) return LoopResult{};
  return {};
}

/// After some corrections in a row the model is not moved by another: the run goes on, and the hit
/// is on record.
std::string Loop::judge_words(const Response& response) {
  if (!parts_.checks) return {};
  std::string correction;
  const bool may_correct = bad_words_ < kMostBadWords;
  bool wanted = false;
  for (const CheckHit& hit : parts_.checks->look_at(response)) {
    wanted = wanted || hit.correct;
    const bool sent = hit.correct && may_correct;
    parts_.events.on(check_hit_event(turn_, hit.check, hit.saw, sent ? hit.message : ""));
    if (sent) correction += (correction.empty() ? "" : "\n\n") + hit.message;
  }
  if (!wanted) bad_words_ = 0;
  if (correction.empty()) return {};
  ++bad_words_;
  const bool has_calls =
      std::any_of(response.items.begin(), response.items.end(),
                  [](const Item& item) { return std::holds_alternative<ToolCall>(item.content); });
  return has_calls ? correction + "\nNone of that response's tool calls was run." : correction;
}

std::optional<LoopResult> Loop::correct(const std::vector<std::string>& findings) {
  const std::string saw = joined(findings);
  return go_on(corrections_, kMostCorrections,
               {.check = "unusable_item",
                .saw = saw,
                .message = "A part of your response could not be used:\n" + saw,
                .failure = "the model's responses could not be used four times in a row: " + saw});
}

std::optional<LoopResult> Loop::go_on(int& times, int most, const Nudge& nudge) {
  const bool again = ++times <= most;
  parts_.events.on(check_hit_event(turn_, nudge.check, nudge.saw, again ? nudge.message : ""));
  if (!again)
    return LoopResult{.code = ExitCode::refused,
                      .reason = nudge.failure,
                      .kind = nudge.check,
                      .next = nudge.next};
  tell_model(nudge.message);
  return {};
}

std::optional<LoopResult> Loop::run_calls(const std::vector<ToolCall>& calls,
                                          std::stop_token stop) {
  std::optional<LoopResult> end;
  std::set<std::string> taken;
  for (const Item& item : history_.items())
    if (const auto* output = std::get_if<ToolOutput>(&item.content)) taken.insert(output->call_id);
  if (const auto out = parts_.budget.after_response()) end = exhausted(*out);
  for (const ToolCall& call : calls) {
    if (!end && stop.stop_requested()) end = stopped();
    if (end) {
      answer(call, "Not run: the run has ended (" + end->reason + ").", "not_run");
    } else if (!taken.insert(call.call_id).second) {
      answer(call,
             "Not run: the call id '" + call.call_id +
                 "' was used before. Each call needs an id of its own.",
             "duplicate_call_id");
    } else if (const auto out = parts_.budget.before_tool_call()) {
      end = exhausted(*out);
      answer(call, "Not run: the run's budget is used up (" + out->text + ").", "budget");
    } else {
      end = run_call(call, stop);
    }
  }
  return end;
}

std::optional<LoopResult> Loop::run_call(const ToolCall& call, std::stop_token stop) {
  parts_.budget.count_tool_call();
  CallResult result = parts_.tools.dispatch(call, turn_, stop);
  // Whatever the tool host made of it: one output a call, with the call's own id.
  result.output.call_id = call.call_id;
  result.output.form = call.form;
  history_.add({std::move(result.output)});
  return end_by(result);
}

void Loop::answer(const ToolCall& call, const std::string& text, const std::string& verdict) {
  parts_.events.on(tool_call_event(turn_, call));
  parts_.events.on(tool_output_event(turn_, {.call_id = call.call_id,
                                             .tool = call.name,
                                             .success = false,
                                             .output = text,
                                             .verdict = verdict}));
  history_.add({ToolOutput{call.call_id, text, false, call.form}});
}

LoopResult Loop::exhausted(const Exhausted& what) {
  parts_.events.on(budget_exhausted_event(turn_, what.which, what.limit, what.used));
  return {.code = ExitCode::budget, .reason = what.text, .kind = what.which, .next = what.next};
}

std::optional<Exhausted> Loop::stage_spent() const {
  if (!stage_.max_turns || stage_turns_ < *stage_.max_turns) return {};
  const std::string used = std::to_string(stage_turns_);
  return Exhausted{.which = "stage_turns",
                   .limit = *stage_.max_turns,
                   .used = stage_turns_,
                   .text = "max_turns of the stage: " + used + " of " + used +
                           " turns, and its work has not ended",
                   .next = "a larger max_turns of the stage '" + stage_.name + "' in the task"};
}

/// Once in a stage, when 80 % of its turns are used; not before its first.
std::optional<std::string> Loop::stage_notice() {
  if (!stage_.max_turns || stage_noticed_ || stage_turns_ == 0) return {};
  const int left = *stage_.max_turns - stage_turns_;
  if (left * 5 > *stage_.max_turns || left <= 0) return {};
  stage_noticed_ = true;
  return "Budget notice: of this stage's turns " + std::to_string(left) +
         (left == 1 ? " is" : " are") + " left. Bring it to an end and close with your message.";
}

void Loop::tell_model(const std::string& text) {
  history_.add({Message{Message::Role::user, text}});
}

}  // namespace sortie
