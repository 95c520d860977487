#include "core/agent/conversation.h"

#include <algorithm>
#include <utility>

#include "core/model/repetition.h"
#include "core/model/tool_calls.h"
#include "core/text/output_buffer.h"

namespace sortie {
namespace {

constexpr const char* kPin = "pin";
constexpr int kMaxSummaries = 2;

std::size_t settings_bytes(const ModelSettings& settings) {
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

/// The usage counted for a response without one.
Usage estimated_usage(const Response& response, std::int64_t input_tokens) {
  return {.input_tokens = input_tokens,
          .output_tokens =
              std::max(estimated_output(response.items), estimated_output(response.cut_bytes))};
}

}  // namespace

std::string message_of(const Response& response) {
  std::string message;
  for (const Item& item : response.items) {
    const auto* text = std::get_if<Message>(&item.content);
    if (!text || text->role != Message::Role::assistant || text->text.empty()) continue;
    if (!message.empty()) message += '\n';
    // Messages can be megabytes long; a newline is appended when they are written.
    message.reserve(message.size() + text->text.size() + 1);
    message += text->text;
  }
  return message;
}

/// Records what happens during a request.
class Conversation::Recorder : public StreamSink {
 public:
  Recorder(Conversation& conversation, const History& history)
      : conversation_(conversation), history_(history) {}
  void on_request(const RequestRecord& request, int attempt) override {
    emit(model_request_event(conversation_.turn_, request, attempt, history_.items()));
  }
  void on_cut_off(int attempt, std::uint64_t lost_bytes) override {
    const Usage usage{.input_tokens = conversation_.tokens_of(history_),
                      .output_tokens = estimated_output(lost_bytes)};
    const auto cost = conversation_.parts_.budget.count_tokens(usage, conversation_.source_);
    emit({conversation_.turn_, ModelCutOff{attempt, limits().name, usage, cost}});
  }
  void on_retry(const RetryRecord& retry) override {
    // The failed attempt may have to be paid for, so the reserve must be checked again.
    if (const auto out = conversation_.parts_.budget.before_retry(
            conversation_.tokens_of(history_), limits().max_output_tokens, conversation_.source_,
            conversation_.paid_output_))
      throw ModelError(out->text, ExitCode::budget, name_of(out->which));
    conversation_.set_aside(history_, false);
    emit({conversation_.turn_, retry});
  }
  void on_wait(const PacedWait& wait) override { emit({conversation_.turn_, wait}); }
  void on_fallback(const FallbackRecord& fallback) override {
    emit({conversation_.turn_, fallback});
    conversation_.source_ = fallback.source;  // set_source() follows once the request has ended
  }

 private:
  /// The limits of the model now asked: a fallback may have taken over during the request.
  const ModelLimits& limits() const {
    const auto& models = conversation_.context_.models;
    return models[std::min(static_cast<std::size_t>(conversation_.source_), models.size() - 1)];
  }
  void emit(RunEvent event) { conversation_.parts_.events.consume(std::move(event)); }
  Conversation& conversation_;
  const History& history_;
};

Conversation::Conversation(Parts parts, ModelSettings settings, ContextSettings context)
    : parts_(parts), settings_(std::move(settings)), context_(std::move(context)) {
  if (context_.models.empty())
    context_.models = {ModelLimits{.max_output_tokens = settings_.max_output_tokens}};
  set_source(0);
  fixed_bytes_ = settings_bytes(settings_);
}

void Conversation::restore(EarlierConversation earlier) {
  turn_ = earlier.turn;
  set_source(earlier.source);
  history_.restore(std::move(earlier.items), earlier.corrections);
  if (earlier.usage) history_.measured(earlier.usage->input_tokens, fixed_bytes_);
  call_ids_ = std::move(earlier.call_ids);
}

void Conversation::take_again(Response& response) { give_unique_ids(response); }

/// Servers refuse calls in the history of a request that declares no tools. So where there are none
/// any more, those of before stay declared, and none of them may be called.
void Conversation::keep_tools_of_calls(ModelSettings& settings) const {
  const auto& items = history_.items();
  const auto is_call = [](const Item& item) {
    return std::holds_alternative<ToolCall>(item.content);
  };
  if (!settings.tools.empty() || std::none_of(items.begin(), items.end(), is_call)) return;
  settings.tools = settings_.tools;
  settings.tool_choice = {.word = "none"};
}

void Conversation::begin_stage(ModelSettings settings, StageTurns turns) {
  keep_tools_of_calls(settings);
  if (settings.instructions != settings_.instructions ||
      !same_tools(settings.tools, settings_.tools) ||
      settings.output_schema.has_value() != settings_.output_schema.has_value() ||
      settings.tool_choice != settings_.tool_choice)
    history_.begin_epoch(sent_epoch_);
  settings_ = std::move(settings);
  fixed_bytes_ = settings_bytes(settings_);
  stage_turns_ = std::move(turns);
}

void Conversation::change_tools(ModelSettings settings) {
  keep_tools_of_calls(settings);
  history_.begin_epoch(sent_epoch_);
  settings_ = std::move(settings);
  fixed_bytes_ = settings_bytes(settings_);
}

void Conversation::meet_tool_choice() {
  if (!settings_.tool_choice.forces() || std::exchange(settings_.tool_choice.met, true)) return;
  history_.begin_epoch(sent_epoch_);
}

void Conversation::add_budget_notices() {
  if (const auto notice = parts_.budget.take_notice()) add_user_message(*notice);
  if (const auto notice = stage_turns_.take_notice()) add_user_message(*notice);
}

std::optional<BudgetLimit> Conversation::before_request(const History& history) const {
  const std::int64_t tokens = tokens_of(history);
  if (const auto out = parts_.budget.before_request(tokens, limits().max_output_tokens, source_,
                                                    parts_.budget.paid_output(tokens, source_)))
    return out;
  return stage_turns_.spent();
}

std::optional<BudgetLimit> Conversation::before_retry() const {
  return parts_.budget.before_retry(tokens(), limits().max_output_tokens, source_,
                                    parts_.budget.paid_output(tokens(), source_));
}

Response Conversation::ask(std::stop_token stop, bool may_repeat) {
  return ask(history_, settings_, stop, may_repeat);
}

void Conversation::set_source(int source) {
  source_ = std::clamp(source, 0, static_cast<int>(context_.models.size()) - 1);
  history_.count_images_by(limits().images);
}

Response Conversation::ask(const History& history, const ModelSettings& settings,
                           std::stop_token stop, bool may_repeat) {
  paid_output_ = parts_.budget.paid_output(tokens_of(history), source_);
  set_aside(history, true);
  begin_request(history);
  Recorder recorder(*this, history);
  ModelSettings paid;
  if (paid_output_ > 0) {
    paid = settings;
    paid.paid_output_tokens = paid_output_;
    paid.max_output_tokens = std::min(paid.max_output_tokens, paid_output_);
  }
  const Request request{paid_output_ > 0 ? paid : settings, history.items(), history.epoch(),
                        may_repeat, tokens_of(history)};
  Response response;
  try {
    response = parts_.model.ask(request, recorder, parts_.budget.deadline(), stop);
  } catch (...) {
    set_source(source_);
    throw;
  }
  set_source(response.source);
  if (response.usage && &history == &history_)
    history_.measured(response.usage->input_tokens, fixed_bytes_);
  give_unique_ids(response);
  record_response(response, tokens_of(history), &history != &history_);
  check_pin(response);
  return response;
}

/// Sets aside what the request may take, where other processes use the same budget.
void Conversation::set_aside(const History& history, bool begins_turn) {
  if (const auto out = parts_.budget.set_aside(tokens_of(history), limits().max_output_tokens,
                                               source_, paid_output_, begins_turn))
    throw ModelError(out->text, ExitCode::budget, name_of(out->which));
}

void Conversation::begin_request(const History& history) {
  ++turn_;
  stage_turns_.count();
  parts_.budget.count_turn();
  sent_epoch_ = std::max(sent_epoch_, history.epoch());
  parts_.events.on(
      {turn_, TurnStarted{history.items().size(), tokens_of(history), parts_.budget.left_json()}});
}

/// Records the response and counts its cost.
/// @param aside  not part of the conversation: a summary, run notes
void Conversation::record_response(Response& response, std::int64_t input_tokens, bool aside) {
  const bool measured = response.usage.has_value();
  if (!measured) response.usage = estimated_usage(response, input_tokens);
  const auto cost = parts_.budget.count_tokens(*response.usage, source_);
  parts_.events.consume(model_response_event(
      turn_, response,
      {.model = limits().name, .cost = cost, .estimated = !measured, .aside = aside}));
  if (!measured && !std::exchange(usage_reported_, true))
    parts_.events.on(check_hit_event(
        turn_, "usage_missing", "the provider reported no token usage: estimates are counted", ""));
}

/// Some servers number the calls of each response anew: an id that an earlier response had gets the
/// turn's number, since outputs, and records, are known by their ids.
void Conversation::give_unique_ids(Response& response) {
  std::unordered_set<std::string> own;
  for (const Item& item : response.items)
    if (const auto* call = std::get_if<ToolCall>(&item.content)) own.insert(call->call_id);
  std::string repeated;
  for (std::size_t i = 0; i < response.items.size(); ++i) {
    const auto* call = std::get_if<ToolCall>(&response.items[i].content);
    if (call == nullptr || call_ids_.count(call->call_id) == 0) continue;
    const std::string before = call->call_id;
    // Providers limit the length.
    std::string id = (before.size() < 28 ? before : "call") + "_" + std::to_string(turn_);
    for (int more = 2; call_ids_.count(id) != 0 || !own.insert(id).second; ++more)
      id = "call_" + std::to_string(turn_) + "_" + std::to_string(more);
    rename_call(response, i, id);
    if (repeated.empty()) repeated = before + "': it is '" + id + "' now";
  }
  call_ids_.merge(own);
  if (!repeated.empty() && !std::exchange(ids_reported_, true))
    parts_.events.on(check_hit_event(
        turn_, "repeated_call_ids",
        "the provider gave a call the id of an earlier response's call, '" + repeated, ""));
}

/// To be called once the response is recorded and counted.
void Conversation::check_pin(const Response& response) const {
  const std::string& asked = response.requested_model;
  if (!settings_.pin || asked.empty() || response.stop_reason == kRepetition) return;
  if (response.served_model == asked) return;
  throw ModelError("model.pin: expected '" + asked + "', but the response came from " +
                       (response.served_model.empty() ? "a model that the provider does not name"
                                                      : "'" + response.served_model + "'"),
                   ExitCode::refused, kPin);
}

bool Conversation::make_room(std::stop_token stop) {
  const ContextBudget room = this->room();
  const std::int64_t before = tokens();
  if (before <= room.trigger) return true;
  // The parts that are always kept may fill most of it; don't ask for a summary each turn then.
  const bool grown = before - compacted_to_ >= room.trigger / 8;
  if (grown || before > room.limit)
    compact("compact_at", room.trigger, grown ? Means::ask_for_summary : Means::cut_outputs, stop);
  return tokens() <= room.window;
}

bool Conversation::halve(std::stop_token stop) {
  return compact("context_length", tokens() / 2, Means::ask_for_summary, stop);
}

/// Replaces older turns by a summary, or cuts old outputs, arguments and at last turns if there is
/// none.
/// @return  whether the history got shorter
bool Conversation::compact(const std::string& cause, std::int64_t limit, Means means,
                           std::stop_token stop) {
  CompactionRecord record{
      .cause = cause, .turns_before = history_.turns(), .tokens_before = tokens_of(history_)};
  if (means == Means::ask_for_summary && history_.turns() > 0) {
    History conversation = history_;
    // The same request would be too long again.
    if (cause == "context_length" || tokens_of(conversation) > room().limit)
      conversation.shorten_to(std::min(limit, room().trigger), fixed_bytes_);
    record.summary = ask_for_summary(conversation, record.reason, stop);
  } else {
    record.reason = history_.turns() == 0 ? "there is no turn to summarise"
                                          : "too little was added since the last compaction";
  }
  History shorter = history_;
  const bool cut_fits = shorter.cut_outputs(limit / 4 * 3, fixed_bytes_);
  if (!record.summary.empty()) {
    History summarised =
        with_summary(history_, record.summary, context_.keep_last_turns, limit, fixed_bytes_);
    const bool better = !cut_fits && tokens_of(summarised) < tokens_of(shorter);
    if (tokens_of(summarised) <= limit || better) {
      shorter = std::move(summarised);
      record.method = CompactionMethod::summary;
    } else {
      record.summary.clear();
      record.reason = "the summary would not have made it shorter";
    }
  }
  if (record.summary.empty() && !cut_fits) shorter.shorten_to(limit / 4 * 3, fixed_bytes_);
  record.turns_after = shorter.turns();
  record.tokens_after = compacted_to_ = tokens_of(shorter);
  const bool any_shorter = record.tokens_after < record.tokens_before;
  if (any_shorter) {
    parts_.events.on({turn_, record});
    history_ = std::move(shorter);
  }
  // Requests sent meanwhile are not a prefix of the next one.
  if (any_shorter || sent_epoch_ >= history_.epoch()) history_.begin_epoch(sent_epoch_);
  return any_shorter;
}

/// A summary that was cut, or that goes in circles, is not believed: it is asked for once more.
std::string Conversation::ask_for_summary(const History& conversation, std::string& why_not,
                                          std::stop_token stop) {
  for (int tries = 1;; ++tries) {
    std::string flaw;
    std::string summary = side_request(conversation, kSummaryRequest, why_not, stop, &flaw);
    if (flaw.empty()) return summary;
    why_not = "the model's summary " + flaw;
    const bool again = tries < kMaxSummaries;
    parts_.events.on(check_hit_event(turn_, "bad_summary", why_not,
                                     again ? std::string(kSummaryRequest) : std::string()));
    if (!again) return {};
  }
}

/// What is wrong with a text that was asked for: "repeats itself"; "" if nothing is.
std::string Conversation::flaw_of(const Response& response, const std::string& text) {
  RepetitionGuard guard;
  guard.feed(text);
  if (!response.repeated.empty() || !guard.passage().empty()) return "repeats itself";
  return response.incomplete ? "was cut off at its length limit" : "";
}

/// A turn of its own that leaves the history as it is. @return "" where there is no text
/// @param flaw  set to what is wrong with the text; null: it is of use even so
std::string Conversation::side_request(History conversation, std::string_view request,
                                       std::string& why_not, std::stop_token stop,
                                       std::string* flaw) {
  conversation.add({Message{Message::Role::user, std::string(request)}});
  if (tokens_of(conversation) > room().window) {
    why_not = "the conversation does not fit the context window";
    return {};
  }
  if (const auto out = before_request(conversation)) {
    why_not = out->text;
    return {};
  }
  ModelSettings settings = settings_;
  settings.output_schema.reset();  // applies to the final message only
  settings.tool_choice.met = true;
  Response response;
  try {
    response = ask(conversation, settings, stop);
  } catch (const ModelError& error) {
    if (error.kind() == kPin) throw;  // the next response would fail likewise
    why_not = error.what();
    return {};
  }
  std::string text = message_of(response);
  if (text.empty()) why_not = "the model's answer has no text";
  if (flaw != nullptr && !text.empty()) *flaw = flaw_of(response, text);
  return text;
}

std::string Conversation::side_request(std::string_view request, std::string& why_not,
                                       std::stop_token stop) {
  const std::string text = side_request(history_, request, why_not, stop, nullptr);
  history_.begin_epoch(sent_epoch_);
  return text;
}

bool Conversation::take_out_images(const std::string& why) {
  const auto outputs = history_.outputs_with_newest_images();
  if (outputs.empty()) return false;
  std::size_t images = 0;
  std::vector<std::string> calls;
  for (const std::size_t index : outputs) {
    const auto& output = std::get<ToolOutput>(history_.items()[index].content);
    images += output.images.size();
    calls.push_back(output.call_id);
  }
  // The provider may not say which one: the model can look at each again.
  const std::string text =
      images == 1
          ? "[the model's provider could not use the image: " + why + "]"
          : "[the model's provider could not use at least one of " + std::to_string(images) +
                " images, so all were removed; ask for one at a time: " + why + "]";
  parts_.events.on({turn_, CheckRecord{"image_refused", why, text, std::move(calls)}});
  for (const std::size_t index : outputs) history_.take_out_images(index, text);
  history_.begin_epoch(sent_epoch_);
  return true;
}

/// For tools that return images whatever the model, such as an MCP server's: the provider would
/// refuse the request.
void Conversation::leave_out_images(ToolOutput& output) {
  const std::size_t images = output.images.size();
  output.images.clear();
  output.text +=
      images == 1 ? "\nNote: an image is" : "\nNote: " + std::to_string(images) + " images are";
  output.text += " left out: the model does not accept images";
  parts_.events.on(check_hit_event(turn_, "images_left_out",
                                   "the output of call " + output.call_id + " has images that " +
                                       limits().name + " does not take",
                                   ""));
}

std::uint64_t Conversation::fit(ToolOutput& output) {
  if (!output.images.empty() && limits().takes_images == TakesImages::no) leave_out_images(output);
  const std::int64_t most = room_for_output(room(), tokens_of(history_));
  if (history_.estimated_tokens({output}) <= most) return 0;
  if (!output.images.empty()) {
    // An image can't be cut: it is shown whole or not at all.
    const std::size_t images = output.images.size();
    output.images.clear();
    output.text += "\nNote: left out, since the conversation has no space for ";
    output.text += images == 1 ? "it: the image" : std::to_string(images) + " images";
    parts_.events.on(check_hit_event(
        turn_, "output_cut", "the output of call " + output.call_id + " has images that do not fit",
        ""));
    if (history_.estimated_tokens({output}) <= most) return 0;
  }
  const std::size_t bytes = output.text.size();
  HeadTail cut(history_.bytes_of_tokens(most));
  cut.feed(output.text);
  output.text = cut.render(output.whole);
  parts_.events.on(check_hit_event(turn_, "output_cut",
                                   "the output of call " + output.call_id + " has " +
                                       std::to_string(bytes) + " bytes, and only " +
                                       std::to_string(output.text.size()) + " fit",
                                   ""));
  return cut.left_out_bytes();
}

}  // namespace sortie
