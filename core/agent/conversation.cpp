#include "core/agent/conversation.h"

#include <algorithm>
#include <utility>

#include "core/text/output_buffer.h"

namespace sortie {
namespace {

constexpr const char* kPin = "pin";

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

/// What a response without usage counts as.
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
    // It is megabytes now and then, and written with a newline behind it.
    message.reserve(message.size() + text->text.size() + 1);
    message += text->text;
  }
  return message;
}

/// Tells of a request while it is under way.
class Conversation::Recorder : public StreamSink {
 public:
  Recorder(Conversation& conversation, const History& history)
      : conversation_(conversation), history_(history) {}
  void on_request(const RequestRecord& request, int attempt) override {
    tell(model_request_event(conversation_.turn_, request, attempt, history_.items()));
  }
  void on_cut_off(int attempt, std::uint64_t lost_bytes) override {
    const Usage usage{.input_tokens = conversation_.tokens_of(history_),
                      .output_tokens = estimated_output(lost_bytes)};
    const auto cost = conversation_.parts_.budget.count_tokens(usage, conversation_.source_);
    tell({conversation_.turn_, ModelCutOff{attempt, terms().name, usage, cost}});
  }
  void on_retry(const RetryRecord& retry) override {
    // What it may cost is not known to be there any more: the try before may have to be paid for.
    if (const auto out = conversation_.parts_.budget.before_retry(
            conversation_.tokens_of(history_), terms().max_output_tokens, conversation_.source_,
            conversation_.paid_output_))
      throw ModelError(out->text, ExitCode::budget, out->which);
    tell({conversation_.turn_, retry});
  }
  void on_fallback(const FallbackRecord& fallback) override {
    tell({conversation_.turn_, fallback});
    conversation_.source_ = fallback.source;  // set_source() follows once the request has ended
  }

 private:
  /// Of the model that is asked now: a fallback may have taken over during the request.
  const ModelLimits& terms() const {
    const auto& models = conversation_.context_.models;
    return models[std::min(static_cast<std::size_t>(conversation_.source_), models.size() - 1)];
  }
  void tell(const RunEvent& event) { conversation_.parts_.events.on(event); }
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

void Conversation::begin_stage(ModelSettings settings, StageTurns turns) {
  if (settings.instructions != settings_.instructions ||
      !same_tools(settings.tools, settings_.tools) ||
      settings.output_schema.has_value() != settings_.output_schema.has_value())
    history_.begin_epoch(sent_epoch_);
  settings_ = std::move(settings);
  fixed_bytes_ = settings_bytes(settings_);
  stage_turns_ = std::move(turns);
}

void Conversation::change_tools(ModelSettings settings) {
  history_.begin_epoch(sent_epoch_);
  settings_ = std::move(settings);
  fixed_bytes_ = settings_bytes(settings_);
}

void Conversation::give_notices() {
  if (const auto notice = parts_.budget.take_notice()) tell_model(*notice);
  if (const auto notice = stage_turns_.take_notice()) tell_model(*notice);
}

std::optional<BudgetLimit> Conversation::before_request(const History& history) const {
  const std::int64_t tokens = tokens_of(history);
  if (const auto out = parts_.budget.before_request(tokens, terms().max_output_tokens, source_,
                                                    parts_.budget.paid_output(tokens, source_)))
    return out;
  return stage_turns_.spent();
}

std::optional<BudgetLimit> Conversation::before_retry() const {
  return parts_.budget.before_retry(tokens(), terms().max_output_tokens, source_,
                                    parts_.budget.paid_output(tokens(), source_));
}

Response Conversation::ask(std::stop_token stop, bool may_repeat) {
  return ask(history_, settings_, stop, may_repeat);
}

void Conversation::set_source(int source) {
  source_ = std::clamp(source, 0, static_cast<int>(context_.models.size()) - 1);
  history_.count_images_by(terms().images);
}

Response Conversation::ask(const History& history, const ModelSettings& settings,
                           std::stop_token stop, bool may_repeat) {
  begin_request(history);
  Recorder recorder(*this, history);
  ModelSettings paid;
  paid_output_ = parts_.budget.paid_output(tokens_of(history), source_);
  if (paid_output_ > 0) {
    paid = settings;
    paid.paid_output_tokens = paid_output_;
    paid.max_output_tokens = std::min(paid.max_output_tokens, paid_output_);
  }
  const Request request{paid_output_ > 0 ? paid : settings, history.items(), history.epoch(),
                        may_repeat};
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
  settle(response, tokens_of(history), &history != &history_);
  check_pin(response);
  return response;
}

void Conversation::begin_request(const History& history) {
  ++turn_;
  stage_turns_.count();
  parts_.budget.count_turn();
  sent_epoch_ = std::max(sent_epoch_, history.epoch());
  parts_.events.on(
      {turn_, TurnStarted{history.items().size(), tokens_of(history), parts_.budget.left_json()}});
}

/// Puts the response on record, and what it cost on the budget.
/// @param aside  it is no part of the conversation: a summary, notes
void Conversation::settle(Response& response, std::int64_t input_tokens, bool aside) {
  const bool measured = response.usage.has_value();
  if (!measured) response.usage = estimated_usage(response, input_tokens);
  const auto cost = parts_.budget.count_tokens(*response.usage, source_);
  parts_.events.on(model_response_event(
      turn_, response,
      {.model = terms().name, .cost = cost, .estimated = !measured, .aside = aside}));
  if (!measured && !std::exchange(usage_told_, true))
    parts_.events.on(check_hit_event(turn_, "usage_missing",
                                     "the provider did not say how many tokens it has used: "
                                     "estimates are counted",
                                     ""));
}

/// Once the response is on record and paid for.
void Conversation::check_pin(const Response& response) const {
  const std::string& asked = response.requested_model;
  if (!settings_.pin || asked.empty() || response.stop_reason == kRepetition) return;
  if (response.served_model == asked) return;
  throw ModelError("model.pin: '" + asked + "' was asked for, but the provider's response is " +
                       (response.served_model.empty() ? "by a model that it does not name"
                                                      : "by '" + response.served_model + "'"),
                   ExitCode::refused, kPin);
}

bool Conversation::make_room(std::stop_token stop) {
  const ContextBudget room = this->room();
  const std::int64_t before = tokens();
  if (before <= room.trigger) return true;
  // What is kept for good may fill most of the room; then it is not worth a summary each turn.
  const bool grown = before - compacted_to_ >= room.trigger / 8;
  if (grown || before > room.limit)
    compact("compact_at", room.trigger, grown ? Means::ask_for_summary : Means::cut_outputs, stop);
  return tokens() <= room.window;
}

bool Conversation::halve(std::stop_token stop) {
  return compact("context_length", tokens() / 2, Means::ask_for_summary, stop);
}

/// Puts a summary in the place of older turns, or where none can be had, cuts old outputs.
/// @return  whether the history is any shorter
bool Conversation::compact(const std::string& cause, std::int64_t limit, Means means,
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
    record.summary = aside(std::move(conversation), kHandOverRequest, record.reason, stop);
  } else {
    record.reason = history_.turns() == 0
                        ? "no turn could be summed up"
                        : "too little has come since it was last shortened for a summary";
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
      record.reason = "with the summary it would have been longer";
    }
  }
  record.turns_after = shorter.turns();
  record.tokens_after = compacted_to_ = tokens_of(shorter);
  const bool any_shorter = record.tokens_after < record.tokens_before;
  if (any_shorter) {
    parts_.events.on({turn_, record});
    history_ = std::move(shorter);
  }
  // What went out meanwhile is not the beginning of what comes next.
  if (any_shorter || sent_epoch_ >= history_.epoch()) history_.begin_epoch(sent_epoch_);
  return any_shorter;
}

/// A turn of its own that leaves the history as it is. @return "" where there is no text
std::string Conversation::aside(History conversation, std::string_view request,
                                std::string& why_not, std::stop_token stop) {
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
  settings.output_schema.reset();  // it is about the final message
  Response response;
  try {
    response = ask(conversation, settings, stop);
  } catch (const ModelError& error) {
    if (error.kind() == kPin) throw;  // the next response would be no better
    why_not = error.what();
    return {};
  }
  std::string text = message_of(response);
  if (text.empty()) why_not = "the model's answer has no text";
  return text;
}

std::string Conversation::ask_aside(std::string_view request, std::string& why_not,
                                    std::stop_token stop) {
  const std::string text = aside(history_, request, why_not, stop);
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
  // The provider may not say which: each can be looked at again, by itself.
  const std::string text =
      images == 1 ? "[the image could not be used by the model's provider: " + why + "]"
                  : "[of " + std::to_string(images) +
                        " images at least one could not be used by the model's provider, so that "
                        "all were left out; ask for one at a time: " +
                        why + "]";
  parts_.events.on({turn_, CheckRecord{"image_refused", why, text, std::move(calls)}});
  for (const std::size_t index : outputs) history_.take_out_images(index, text);
  history_.begin_epoch(sent_epoch_);
  return true;
}

/// Of a tool of the run's own, an MCP server's: the request would be refused for them.
void Conversation::leave_out_images(ToolOutput& output) {
  const std::size_t images = output.images.size();
  output.images.clear();
  output.text +=
      images == 1 ? "\nNote: an image is" : "\nNote: " + std::to_string(images) + " images are";
  output.text += " left out, since the model takes none";
  parts_.events.on(check_hit_event(turn_, "images_left_out",
                                   "the output of call " + output.call_id + " has images that " +
                                       terms().name + " does not take",
                                   ""));
}

std::uint64_t Conversation::fit(ToolOutput& output) {
  if (!output.images.empty() && terms().takes_images == TakesImages::no) leave_out_images(output);
  const std::int64_t most = room_for_output(room(), tokens_of(history_));
  if (history_.estimated_tokens({output}) <= most) return 0;
  if (!output.images.empty()) {
    // An image can't be cut: it is shown whole or not at all.
    const std::size_t images = output.images.size();
    output.images.clear();
    output.text += "\nNote: left out, since the conversation has no room for ";
    output.text += images == 1 ? "it: the image" : std::to_string(images) + " images";
    parts_.events.on(check_hit_event(
        turn_, "output_cut",
        "the output of call " + output.call_id + " has images that there is no room for", ""));
    if (history_.estimated_tokens({output}) <= most) return 0;
  }
  const std::size_t bytes = output.text.size();
  HeadTail cut(history_.bytes_of_tokens(most));
  cut.feed(output.text);
  output.text = cut.render(output.whole);
  parts_.events.on(check_hit_event(turn_, "output_cut",
                                   "the output of call " + output.call_id + " has " +
                                       std::to_string(bytes) + " bytes, and room is left for " +
                                       std::to_string(output.text.size()),
                                   ""));
  return cut.left_out_bytes();
}

}  // namespace sortie
