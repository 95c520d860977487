#include "core/agent/loop.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/threads.h"
#include "core/json/json.h"
#include "core/model/failure.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr int kMaxCorrections = 3;
constexpr int kMaxTextCorrections = 3;
constexpr int kMaxIncomplete = 2;
constexpr int kMaxLeaks = 3;
constexpr int kMaxReasoningOnly = 1;
constexpr int kMaxRepeats = 2;
constexpr std::size_t kShownPassage = 200;  ///< bytes
constexpr int kMaxPaused = 10;
constexpr std::size_t kMaxProviderWords = 400;  ///< bytes
constexpr int kMaxConcurrent = 16;              ///< calls
/// Tools are asked to stop this long after the time is up: commands and requests to servers have
/// the same deadline as their own limit, and report it more precisely.
constexpr std::chrono::milliseconds kAfterTime{20};

ModelSettings with_tools(ModelSettings settings, const ToolHost& tools) {
  settings.tools = tools.specs();
  return settings;
}

LoopResult stopped() {
  return {.code = ExitCode::interrupted, .reason = "stopped by a signal", .kind = "stopped"};
}

constexpr const char* kMoreRoom =
    "a model with a larger context window (or its model.context_window), a shorter prompt or "
    "fewer project_docs";

/// Whether one passage is a rotation of the other: "abcabc" can be cut at any letter.
bool is_rotation(const std::string& passage, const std::string& other) {
  return passage.size() == other.size() && (other + other).find(passage) != std::string::npos;
}

}  // namespace

Loop::Loop(Parts parts, ModelSettings settings, ContextSettings context)
    : events_(parts.events),
      parts_{parts.model,   parts.tools,  events_,
             parts.budget,  parts.checks, std::move(parts.renew),
             parts.redactor},
      conversation_({parts_.model, parts_.events, parts_.budget},
                    with_tools(std::move(settings), parts_.tools), std::move(context)) {}

void Loop::begin_stage(StageSettings stage) {
  ModelSettings settings = with_tools(conversation_.settings(), parts_.tools);
  settings.instructions = std::move(stage.instructions);
  settings.output_schema = std::move(stage.output_schema);
  settings.tool_choice = {.word = std::move(stage.tool_choice)};
  ends_run_ = stage.ends_run;
  conversation_.begin_stage(std::move(settings),
                            {std::move(stage.name), stage.max_turns, stage.turns_used});
}

LoopResult Loop::run(std::vector<Item> items, std::stop_token stop) {
  conversation_.begin_prompt();
  for (Item& item : items) conversation_.add(std::move(item));
  begin_run();
  return go_on(std::move(stop));
}

void Loop::begin_run() {
  corrections_ = text_corrections_ = leaks_ = incomplete_ = reasoning_only_ = paused_ = repeats_ =
      0;
  continues_ = secret_corrected_ = false;
}

LoopResult Loop::go_on(std::stop_token stop) {
  const DeadlineStop tools_stop(
      stop, std::chrono::steady_clock::now() + parts_.budget.time_left() + kAfterTime);
  tools_stop_ = tools_stop.token();
  if (earlier_)
    if (auto end = take_up(stop)) return *end;
  for (;;)
    if (auto end = one_turn(stop)) return *end;
}

std::optional<LoopResult> Loop::one_turn(std::stop_token stop) {
  if (stop.stop_requested()) return stopped();
  try {
    if (auto end = begin_turn(stop)) return end;
    return ask_and_act(stop);
  } catch (const Stopped&) {
    return stopped();
  } catch (const ModelError& error) {
    return failed(error);
  }
}

std::optional<LoopResult> Loop::ask_and_act(std::stop_token stop) {
  try {
    // After one nudge the passage may be intended.
    Response response = conversation_.ask(stop, repeats_ == 1);
    too_long_ = false;
    return handle(std::move(response), stop);
  } catch (const ModelError& error) {
    if (!recover(error, stop)) throw;
    return {};
  }
}

bool Loop::recover(const ModelError& error, std::stop_token stop) {
  if (error.kind() == "context_length")
    return !std::exchange(too_long_, true) && conversation_.halve(stop);
  if (error.kind() != kImageRefused) return false;
  // This terminates: each time fewer images are left.
  std::string words(provider_words(error.what()));
  if (parts_.redactor) words = parts_.redactor->text(std::move(words), Audience::tools);
  return conversation_.take_out_images(one_line_of_words(words, kMaxProviderWords));
}

LoopResult Loop::failed(const ModelError& error) {
  // A request cut off by the run's deadline failed because the time was up.
  if (error.code() == ExitCode::unavailable)
    if (const auto up = parts_.budget.time_up()) return exhausted(*up);
  if (error.code() == ExitCode::budget) {
    const bool waited = error.kind() == kWaitedForModel;
    if (!waited && error.kind() != name_of(BudgetKind::time))
      if (const auto out = conversation_.before_retry()) return exhausted(*out);
    LoopResult end = exhausted(parts_.budget.time_spent());
    end.reason = error.what();
    if (waited) end.next = "the same command again once the provider answers, or " + end.next;
    return end;
  }
  LoopResult end{.code = error.code(),
                 .reason = error.what(),
                 .kind = error.kind(),
                 .retry_after = error.retry_after()};
  if (error.kind() == "context_length") {
    end.reason = "the conversation is too long for the model, even compacted: " + end.reason;
    end.next = kMoreRoom;
  }
  return end;
}

std::optional<LoopResult> Loop::begin_turn(std::stop_token stop) {
  if (parts_.renew) {
    if (auto instructions = parts_.renew(stop)) {
      ModelSettings settings = with_tools(conversation_.settings(), parts_.tools);
      settings.instructions = std::move(*instructions);
      conversation_.change_tools(std::move(settings));
    }
  }
  conversation_.add_budget_notices();
  if (!conversation_.make_room(stop)) return no_room();
  if (const auto out = conversation_.before_request()) return exhausted(*out);
  return {};
}

LoopResult Loop::no_room() const {
  const ModelLimits& model = conversation_.limits();
  return {.code = ExitCode::refused,
          .reason = "the conversation has about " + std::to_string(conversation_.tokens()) +
                    " tokens and can't be shortened, the context window of " + model.name +
                    " has " + std::to_string(model.context_window),
          .kind = "context_length",
          .next = kMoreRoom};
}

std::string Loop::side_request(std::string_view request, std::string& why_not,
                               std::stop_token stop) {
  try {
    return conversation_.side_request(request, why_not, stop);
  } catch (const Stopped&) {
    why_not = "stopped by a signal";
  }
  return {};
}

std::optional<LoopResult> Loop::handle(Response response, std::stop_token stop) {
  if (!response.leaked.empty())
    parts_.events.on(check_hit_event(turn(), std::string(kLeakedCall), response.leaked, ""));
  const std::string words = check_text(response);
  const bool continues = std::exchange(continues_, false);
  std::vector<ToolCall> calls;
  std::string message = message_of(response);
  const bool has_message = !message.empty();
  conversation_.begin_turn();
  bool called = false;
  for (Item& item : response.items) {
    called = called || std::holds_alternative<ToolCall>(item.content) ||
             std::holds_alternative<ProviderItem>(item.content);
    if (const auto* call = std::get_if<ToolCall>(&item.content)) calls.push_back(*call);
    conversation_.add(std::move(item));
  }
  if (called) conversation_.meet_tool_choice();
  if (has_message) take_message(std::move(message), continues);

  if (!response.repeated.empty() && calls.empty()) return stop_repeating(response.repeated);
  repeats_ = 0;
  if (words.empty()) {
    if (auto end = run_calls(calls, stop)) return end;
  } else {
    for (const ToolCall& call : calls)
      reject(call, "Not run: the message with this call was rejected.", "not_run");
    conversation_.add_user_message(words);
  }
  if (!response.findings.empty()) return correct(response.findings);
  corrections_ = 0;
  if (!words.empty()) return {};
  if (response.incomplete) {
    // Without a message the reasoning was cut, and an earlier message still awaits its rest.
    continues_ = calls.empty() && (has_message || continues);
    return send_nudge(
        incomplete_, kMaxIncomplete,
        {.check = "incomplete",
         .saw = response.stop_reason,
         // With providers that enforce a schema, a response can only start anew.
         .message = conversation_.settings().output_schema && calls.empty()
                        ? "Your response was cut off at its length limit. If it was your final "
                          "message, continue exactly where it ended: the pieces are joined. Or "
                          "send it again, complete and shorter."
                        : "Your response was cut off at its length limit. Continue exactly where "
                          "it ended: the pieces are joined.",
         .failure = "the model's response was cut off at its length limit three times",
         .next = conversation_.longer_output()});
  }
  incomplete_ = 0;
  // The provider continues its own response, and accepts no message in between.
  if (response.paused && ++paused_ <= kMaxPaused) return {};
  if (response.paused)
    return LoopResult{.code = ExitCode::refused,
                      .reason = "the provider paused its response more than " +
                                std::to_string(kMaxPaused) + " times in a row",
                      .kind = "paused"};
  paused_ = 0;
  if (calls.empty() && !has_message)
    return send_nudge(
        reasoning_only_, kMaxReasoningOnly,
        {.check = std::string(kNoMessage),
         .saw = "a response with neither a message nor a tool call",
         .message = "Your response had neither a message nor a tool call. Continue the "
                    "task, or end with your final message.",
         .failure = "the model twice sent neither a message nor a tool call"});
  reasoning_only_ = 0;
  if (!calls.empty()) {
    leaks_ = 0;
    return {};
  }
  if (auto leaked = leaked_calls()) return correct(*leaked);
  if (holds_secret()) return {};
  return LoopResult{};
}

/// Whether the final message has a known secret, and the model is asked for one without it: once,
/// since the run fails with it. What only looks like a secret is recorded.
bool Loop::holds_secret() {
  if (!parts_.redactor || !ends_run_) return false;
  const std::string secret = parts_.redactor->find(last_message_);
  const std::string shape =
      secret.empty() ? parts_.redactor->find(last_message_, Audience::tools) : "";
  if (secret.empty() && shape.empty()) return false;
  std::string correction;
  if (!secret.empty() && !std::exchange(secret_corrected_, true))
    correction = "Your message has the value of " + secret +
                 ", which is a secret. Send the whole message again without it, and without any "
                 "coded form or part of it.";
  parts_.events.on(check_hit_event(
      turn(), "secret_in_message",
      secret.empty() ? "what looks like a " + shape : "the value of " + secret, correction));
  if (correction.empty()) return false;
  conversation_.add_user_message(correction);
  return true;
}

/// The calls that the last message has as text, where it would end the work.
std::optional<LeakedCalls> Loop::leaked_calls() const {
  const ModelSettings& settings = conversation_.settings();
  return find_leaked_calls(last_message_, settings.tools,
                           settings.output_schema ? BareJson::is_answer : BareJson::may_be_call);
}

std::optional<LoopResult> Loop::correct(const LeakedCalls& leaked) {
  return send_nudge(
      leaks_, kMaxLeaks,
      {.check = std::string(kLeakedCall),
       .saw = last_message_,
       .message = "Your message has a tool call as text, in the form of " + leaked.form +
                  ", so no tool was called." + (leaked.doubt.empty() ? "" : " " + leaked.doubt) +
                  " Call tools only through the tool interface of this request. If the text was "
                  "meant to be read, send the message again with that text in a code block.",
       .failure = "the model wrote its tool calls as text " + std::to_string(kMaxLeaks + 1) +
                  " times: its server does not parse them",
       .next = "a server with its parser of tool calls on (vLLM: --enable-auto-tool-choice and "
               "--tool-call-parser; llama.cpp: --jinja), or another model"});
}

/// After several corrections in a row another one would not help: the run continues, and the hit is
/// recorded.
std::string Loop::check_text(const Response& response) {
  if (!parts_.checks) return {};
  std::string correction;
  const bool may_correct = text_corrections_ < kMaxTextCorrections;
  bool wanted = false;
  for (const CheckHit& hit : parts_.checks->check(response)) {
    wanted = wanted || hit.correct;
    const bool sent = hit.correct && may_correct;
    parts_.events.on(check_hit_event(turn(), hit.check, hit.saw, sent ? hit.message : ""));
    if (sent) correction += (correction.empty() ? "" : "\n\n") + hit.message;
  }
  if (!wanted) text_corrections_ = 0;
  if (correction.empty()) return {};
  ++text_corrections_;
  const bool has_calls =
      std::any_of(response.items.begin(), response.items.end(),
                  [](const Item& item) { return std::holds_alternative<ToolCall>(item.content); });
  return has_calls ? correction + "\nNone of that response's tool calls was run." : correction;
}

/// Joins a message that was cut off with its continuation. If the answer must be JSON, the model
/// may have started anew in any piece: the first piece counts from which on the text is JSON.
void Loop::take_message(std::string message, bool continues) {
  if (!continues) pieces_.clear();
  if (continues && pieces_.empty()) pieces_.push_back(std::move(last_message_));
  if (pieces_.empty()) {  // the first piece, or all there is: it may be megabytes
    last_message_ = std::move(message);
    return;
  }
  pieces_.push_back(std::move(message));
  const auto from = [&](std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < pieces_.size(); ++i) text += pieces_[i];
    return text;
  };
  last_message_ = from(0);
  if (!conversation_.settings().output_schema || is_json(last_message_)) return;
  for (std::size_t first = 1; first < pieces_.size(); ++first) {
    std::string text = from(first);
    if (!is_json(text)) continue;
    last_message_ = std::move(text);
    return;
  }
}

std::optional<LoopResult> Loop::correct(const std::vector<std::string>& findings) {
  const std::string saw = joined(findings, "\n");
  return send_nudge(corrections_, kMaxCorrections,
                    {.check = "unusable_item",
                     .saw = saw,
                     .message = "A part of your response could not be used:\n" + saw,
                     .failure = "four responses in a row could not be used: " + saw});
}

/// The first time the model is nudged. The next response is not cut, since the repetition may be
/// intended; only one that reaches its length limit is nudged again.
std::optional<LoopResult> Loop::stop_repeating(const std::string& passage) {
  repeats_ = is_rotation(passage, repeated_) ? repeats_ + 1 : 1;
  repeated_ = passage;
  int nudges = repeats_ - 1;
  return send_nudge(
      nudges, kMaxRepeats,
      {.check = std::string(kRepetition),
       .saw = passage,
       .message = "Your response was stopped because it repeated the same passage over "
                  "and over. If the task asks for exactly that, send it again in a code "
                  "block, or write it to a file with a tool. Otherwise do not repeat it: "
                  "continue with the next step of the task, or end with your final "
                  "message.",
       .failure = "three responses in a row repeated the same passage over and over: " +
                  one_line_of_words(passage, kShownPassage)});
}

std::optional<LoopResult> Loop::send_nudge(int& times, int most, const Nudge& nudge) {
  const bool again = ++times <= most;
  parts_.events.on(check_hit_event(turn(), nudge.check, nudge.saw, again ? nudge.message : ""));
  if (!again)
    return LoopResult{.code = ExitCode::refused,
                      .reason = nudge.failure,
                      .kind = nudge.check,
                      .next = nudge.next};
  conversation_.add_user_message(nudge.message);
  return {};
}

std::optional<LoopResult> Loop::run_calls(const std::vector<ToolCall>& calls,
                                          std::stop_token stop) {
  std::optional<LoopResult> end;
  if (const auto out = parts_.budget.after_response()) end = exhausted(*out);
  std::span<const ToolCall> left = calls;
  while (!left.empty()) {
    const ToolCall& call = left.front();
    if (const TurnCall* const earlier = earlier_call(call)) {
      if (auto ended = give_earlier(call, *earlier); ended && !end) end = std::move(ended);
      left = left.subspan(1);
      continue;
    }
    if (!end && stop.stop_requested()) end = stopped();
    if (end) {
      reject(call, "Not run: the run has ended (" + end->reason + ").", "not_run");
      left = left.subspan(1);
      continue;
    }
    if (auto why = rejection(call)) {
      end = std::move(why->end);
      reject(call, why->text, why->verdict);
      left = left.subspan(1);
      continue;
    }
    const auto together = left.first(count_concurrent(left));
    const std::size_t before = answered_.size();
    end = run_concurrent(together);
    left = left.subspan(std::max<std::size_t>(answered_.size() - before, 1));
    // Checked at once: the work before the next request may take time too.
    if (!end && left.empty() && !stop.stop_requested())
      if (const auto up = parts_.budget.time_up()) end = exhausted(*up);
  }
  return end;
}

std::optional<Loop::Rejection> Loop::rejection(const ToolCall& call) {
  if (answered_.count(call.call_id) != 0)
    return Rejection{.text = "Not run: the call id '" + call.call_id +
                             "' was used before. Each call needs its own id.",
                     .verdict = "duplicate_call_id"};
  if (const auto out = parts_.budget.before_tool_call())
    return Rejection{.end = exhausted(*out),
                     .text = "Not run: the run's budget is used up (" + out->text + ").",
                     .verdict = "budget"};
  return {};
}

std::size_t Loop::count_concurrent(std::span<const ToolCall> calls) const {
  if (!parts_.tools.reads_only(calls.front())) return 1;
  const auto most =
      static_cast<std::size_t>(std::max(1, parts_.budget.allowed_calls(kMaxConcurrent)));
  std::unordered_set<std::string_view> ids{calls.front().call_id};
  std::size_t count = 1;
  for (; count < std::min(most, calls.size()); ++count) {
    const ToolCall& call = calls[count];
    if (!parts_.tools.reads_only(call) || answered_.count(call.call_id) != 0 ||
        !ids.insert(call.call_id).second || earlier_call(call) != nullptr)
      break;
  }
  return count;
}

/// All calls are decided on before the first one runs, so that their approvals are recorded before
/// any output. Each output is cut to fit once the ones before it are in the conversation.
std::optional<LoopResult> Loop::run_concurrent(std::span<const ToolCall> calls) {
  std::vector<std::unique_ptr<PendingCall>> pending;
  for (const ToolCall& call : calls) {
    pending.push_back(parts_.tools.prepare(call, turn(), tools_stop_));
    emit_call(parts_.events, turn(), call, parts_.tools.origin(call));
    if (pending.back()->ends_run()) break;
  }
  parts_.tools.run(pending, tools_stop_);
  std::optional<LoopResult> end;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    CallRecord done = pending[i]->finish();
    // One output a call, with the call's own id, whatever the tool host set.
    done.output.call_id = calls[i].call_id;
    done.output.form = calls[i].form;
    if (!end) end = end_by(done);  // the first counts
    done.record.dropped_bytes += conversation_.fit(done.output);
    parts_.budget.count_tool_call();
    give_output(calls[i], std::move(done));
  }
  return end;
}

void Loop::give_output(const ToolCall& call, CallRecord done) {
  emit_output(parts_.events, turn(), call, done);
  answered_.insert(call.call_id);
  conversation_.add({std::move(done.output)});
}

void Loop::reject(const ToolCall& call, const std::string& text, const std::string& verdict) {
  emit_call(parts_.events, turn(), call, parts_.tools.origin(call));
  give_output(call, not_run(call, text, verdict));
}

LoopResult Loop::exhausted(const BudgetLimit& what) {
  parts_.events.on({turn(), BudgetExhausted{what.which, what.limit, what.used}});
  return {.code = ExitCode::budget,
          .reason = what.text,
          .kind = name_of(what.which),
          .next = what.next};
}

}  // namespace sortie
