#include "core/agent/loop.h"

#include <algorithm>
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

constexpr const char* kMoreRoom =
    "a model with a larger context window (or its model.context_window), a shorter prompt or "
    "fewer project_docs";

/// The text of the assistant's messages; "" for none.
std::string text_of(const std::vector<Item>& items) {
  std::string message;
  for (const Item& item : items) {
    const auto* text = std::get_if<Message>(&item.content);
    if (text && text->role == Message::Role::assistant && !text->text.empty())
      message += (message.empty() ? "" : "\n") + text->text;
  }
  return message;
}

/// What a response without usage counts as.
Usage estimated_usage(const Response& response, std::int64_t input_tokens) {
  return {.input_tokens = input_tokens, .output_tokens = estimated_output(response.items)};
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
  Recorder(Loop& loop, const std::vector<Item>& items) : loop_(loop), items_(items) {}
  void on_request(const RequestRecord& request, int attempt) override {
    tell(model_request_event(loop_.turn_, request, attempt, items_));
  }
  void on_retry(const RetryRecord& retry) override { tell(model_retry_event(loop_.turn_, retry)); }
  void on_fallback(const FallbackRecord& fallback) override {
    tell(model_fallback_event(loop_.turn_, fallback));
    ++loop_.source_;  // set_source() follows, once the request has come to its end
  }
  void on_progress(std::uint64_t) override {}

 private:
  void tell(const RunEvent& event) { loop_.parts_.events.on(event); }
  Loop& loop_;
  const std::vector<Item>& items_;
};

Loop::Loop(Parts parts, ModelSettings settings, LoopContext context)
    : parts_(parts), settings_(std::move(settings)), context_(std::move(context)) {
  settings_.tools = parts_.tools.specs();
  if (context_.models.empty())
    context_.models = {ModelTerms{.max_output_tokens = settings_.max_output_tokens}};
  set_source(0);
  fixed_bytes_ = bytes_of(settings_);
}

void Loop::begin_stage(StageSettings stage) {
  ModelSettings next = settings_;
  next.instructions = stage.instructions;
  next.tools = parts_.tools.specs();
  next.output_schema = stage.output_schema;
  if (next.instructions != settings_.instructions || !same_tools(next.tools, settings_.tools) ||
      next.output_schema.has_value() != settings_.output_schema.has_value())
    history_.begin_epoch(sent_epoch_);
  settings_ = std::move(next);
  fixed_bytes_ = bytes_of(settings_);
  stage_ = std::move(stage);
  stage_turns_ = 0;
  stage_noticed_ = false;
}

LoopResult Loop::run(std::vector<Item> items, std::stop_token stop) {
  history_.begin_prompt();
  for (Item& item : items) history_.add(std::move(item));
  corrections_ = bad_words_ = incomplete_ = reasoning_only_ = paused_ = 0;
  for (;;)
    if (auto end = one_turn(stop)) return *end;
}

std::optional<LoopResult> Loop::one_turn(std::stop_token stop) {
  if (stop.stop_requested()) return stopped();
  try {
    if (auto end = begin_turn(stop)) return end;
    Response response = ask(history_, settings_, stop);
    too_long_ = false;
    return take(std::move(response), stop);
  } catch (const Stopped&) {
    return stopped();
  } catch (const ModelError& error) {
    if (error.kind() != "context_length" || std::exchange(too_long_, true)) return failed(error);
    try {
      if (compact("context_length", tokens_of(history_) / 2, Means::ask_for_summary, stop))
        return {};
    } catch (const Stopped&) {
      return stopped();
    }
    return failed(error);
  }
}

LoopResult Loop::failed(const ModelError& error) {
  // A request cut off by the deadline of the whole run failed for want of time.
  if (error.code() == ExitCode::unavailable)
    if (const auto up = parts_.budget.time_up()) return exhausted(*up);
  if (error.code() == ExitCode::budget) {
    LoopResult end = exhausted(parts_.budget.time_spent());
    end.reason = error.what();
    return end;
  }
  LoopResult end{.code = error.code(),
                 .reason = error.what(),
                 .kind = error.kind(),
                 .retry_after = error.retry_after()};
  if (error.kind() == "context_length") {
    end.reason = "the conversation is too long for the model, also shortened: " + end.reason;
    end.next = kMoreRoom;
  }
  return end;
}

std::optional<LoopResult> Loop::begin_turn(std::stop_token stop) {
  if (const auto notice = parts_.budget.take_notice()) tell_model(*notice);
  if (const auto notice = stage_notice()) tell_model(*notice);
  if (auto end = make_room(stop)) return end;
  if (const auto out =
          parts_.budget.before_request(tokens_of(history_), settings_.max_output_tokens, source_))
    return exhausted(*out);
  if (const auto out = stage_spent()) return exhausted(*out);
  start_turn(history_);
  return {};
}

void Loop::start_turn(const History& history) {
  ++turn_;
  ++stage_turns_;
  parts_.budget.count_turn();
  parts_.events.on(turn_started_event(turn_, history.items().size(), tokens_of(history),
                                      parts_.budget.left_json()));
}

void Loop::set_source(int source) {
  source_ = std::clamp(source, 0, static_cast<int>(context_.models.size()) - 1);
  history_.count_images_by(terms().images);
}

Response Loop::ask(const History& history, const ModelSettings& settings, std::stop_token stop) {
  const std::int64_t estimate = tokens_of(history);
  Recorder recorder(*this, history.items());
  const Request request{settings, history.items(), history.epoch()};
  sent_epoch_ = std::max(sent_epoch_, history.epoch());
  Response response;
  try {
    response = parts_.model.ask(request, recorder, parts_.budget.deadline(), stop);
  } catch (...) {
    set_source(source_);
    throw;
  }
  set_source(response.source);
  const bool measured = response.usage.has_value();
  if (measured && &history == &history_)
    history_.measured(response.usage->input_tokens, fixed_bytes_);
  if (!measured) response.usage = estimated_usage(response, estimate);
  const auto cost = parts_.budget.count_tokens(*response.usage, response.source);
  parts_.events.on(model_response_event(turn_, response, cost, !measured));
  if (!measured && !std::exchange(usage_told_, true))
    parts_.events.on(check_hit_event(turn_, "usage_missing",
                                     "the provider did not say how many tokens it has used: "
                                     "estimates are counted",
                                     ""));
  check_pin(response);
  return response;
}

/// Once the response is on record and paid for.
void Loop::check_pin(const Response& response) const {
  const std::string& asked = response.requested_model;
  if (!settings_.pin || asked.empty() || !response.repeated.empty()) return;
  if (response.served_model == asked) return;
  throw ModelError("model.pin: '" + asked + "' was asked for, but the provider's response is " +
                       (response.served_model.empty() ? "by a model that it does not name"
                                                      : "by '" + response.served_model + "'"),
                   ExitCode::refused, "pin");
}

/// Shortens the history where it nears the window, or says that it can't be sent.
std::optional<LoopResult> Loop::make_room(std::stop_token stop) {
  const Room room = this->room();
  const std::int64_t before = tokens_of(history_);
  if (before <= room.trigger) return {};
  // What is kept for good may fill most of the room; then it is not worth a summary each turn.
  const bool grown = before - compacted_to_ >= room.trigger / 8;
  if (grown || before > room.limit)
    compact("compact_at", room.trigger, grown ? Means::ask_for_summary : Means::cut_outputs, stop);
  if (tokens_of(history_) <= room.window) return {};
  return LoopResult{.code = ExitCode::refused,
                    .reason = "the conversation has about " + std::to_string(tokens_of(history_)) +
                              " tokens and nothing left to shorten, the context window of " +
                              terms().name + " has " + std::to_string(room.window),
                    .kind = "context_length",
                    .next = kMoreRoom};
}

/// Puts a summary in the place of older turns, or where none can be had, cuts old outputs.
/// @return  whether the history is any shorter
bool Loop::compact(const std::string& cause, std::int64_t limit, Means means,
                   std::stop_token stop) {
  CompactionRecord record{.cause = cause,
                          .method = "cut",
                          .turns_before = history_.turns(),
                          .tokens_before = tokens_of(history_)};
  if (means == Means::ask_for_summary && history_.turns() > 0) {
    History conversation = history_;
    // A request that was too long once would be so again.
    if (cause == "context_length" || tokens_of(conversation) > room().limit)
      conversation.cut_outputs(std::min(limit, room().trigger), fixed_bytes_);
    std::string why_not;
    record.summary = aside(std::move(conversation), kHandOverRequest, why_not, stop);
  }
  History shorter = history_;
  const bool cut_fits = shorter.cut_outputs(limit / 4 * 3, fixed_bytes_);
  if (!record.summary.empty()) {
    History summarised =
        with_summary(history_, record.summary, context_.keep_last_turns, limit, fixed_bytes_);
    const bool better = !cut_fits && tokens_of(summarised) < tokens_of(shorter);
    if (tokens_of(summarised) <= limit || better) {
      shorter = std::move(summarised);
      record.method = "summary";
    } else {
      record.summary.clear();
    }
  }
  record.turns_after = shorter.turns();
  record.tokens_after = compacted_to_ = tokens_of(shorter);
  const bool any_shorter = record.tokens_after < record.tokens_before;
  if (any_shorter) {
    parts_.events.on(context_compacted_event(turn_, record));
    history_ = std::move(shorter);
  }
  // What went out meanwhile is not the beginning of what comes next.
  if (any_shorter || sent_epoch_ >= history_.epoch()) history_.begin_epoch(sent_epoch_);
  return any_shorter;
}

/// A turn of its own that leaves the history as it is. @return "" where there is no text
std::string Loop::aside(History conversation, std::string_view request, std::string& why_not,
                        std::stop_token stop) {
  conversation.add({Message{Message::Role::user, std::string(request)}});
  if (tokens_of(conversation) > room().window) {
    why_not = "the conversation does not fit the context window";
    return {};
  }
  if (const auto out = parts_.budget.before_request(tokens_of(conversation),
                                                    settings_.max_output_tokens, source_)) {
    why_not = out->text;
    return {};
  }
  if (const auto out = stage_spent()) {
    why_not = out->text;
    return {};
  }
  ModelSettings settings = settings_;
  settings.output_schema.reset();  // it is about the final message
  start_turn(conversation);
  Response response;
  try {
    response = ask(conversation, settings, stop);
  } catch (const ModelError& error) {
    why_not = error.what();
    return {};
  }
  const std::string text = text_of(response.items);
  if (text.empty()) why_not = "the model's answer has no text";
  return text;
}

std::string Loop::ask_aside(std::string_view request, std::string& why_not, std::stop_token stop) {
  std::string text;
  try {
    text = aside(history_, request, why_not, stop);
  } catch (const Stopped&) {
    why_not = "stopped by a signal";
  }
  history_.begin_epoch(sent_epoch_);
  return text;
}

/// A single output must leave room for what is to come of it.
void Loop::fit_output(ToolOutput& output) {
  const std::int64_t most = room_for_output(room(), tokens_of(history_));
  const std::size_t bytes = output.text.size();
  if (history_.estimated_tokens({output}) <= most) return;
  output.text = head_and_tail(output.text, history_.bytes_of_tokens(most));
  parts_.events.on(check_hit_event(turn_, "output_cut",
                                   "the output of call " + output.call_id + " has " +
                                       std::to_string(bytes) + " bytes, and room is left for " +
                                       std::to_string(output.text.size()),
                                   ""));
}

std::optional<LoopResult> Loop::take(Response response, std::stop_token stop) {
  const std::string words = judge_words(response);
  std::vector<ToolCall> calls;
  const std::string message = text_of(response.items);
  history_.begin_turn();
  for (Item& item : response.items) {
    if (const auto* call = std::get_if<ToolCall>(&item.content)) calls.push_back(*call);
    history_.add(std::move(item));
  }
  if (!message.empty()) last_message_ = message;

  if (!response.repeated.empty()) return stop_repeating(response.repeated);
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

std::optional<LoopResult> Loop::stop_repeating(const std::string& passage) {
  return go_on(corrections_, kMostCorrections,
               {.check = "repetition",
                .saw = passage,
                .message = "Your response was stopped, since it repeated the same passage over and "
                           "over. Do not repeat it: go on with the next step of the task, or end "
                           "with your final message.",
                .failure = "the model's responses could not be used four times in a row: the last "
                           "one repeated the same passage over and over"});
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
  if (const auto out = parts_.budget.after_response()) end = exhausted(*out);
  for (const ToolCall& call : calls) {
    if (!end && stop.stop_requested()) end = stopped();
    if (end) {
      answer(call, "Not run: the run has ended (" + end->reason + ").", "not_run");
    } else if (answered_.count(call.call_id) != 0) {
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
  fit_output(result.output);
  answered_.insert(call.call_id);
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
  answered_.insert(call.call_id);
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
