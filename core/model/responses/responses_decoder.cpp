#include "core/model/responses/responses_decoder.h"

#include <limits>

#include "core/model/escaped_text.h"
#include "core/model/responses/response_items.h"
#include "core/model/token_count.h"
#include "core/text/text.h"

namespace sortie {

namespace {

/// The event's type without parsing it: the `event:` line, else the first member of its data where
/// that is the type, as OpenAI writes it. "" where neither says it.
std::string_view quick_type(const SseEvent& event) {
  if (!event.name.empty()) return event.name;
  constexpr std::string_view kBegin = "{\"type\":\"";
  if (!event.data.starts_with(kBegin)) return {};
  const auto rest = event.data.substr(kBegin.size());
  const auto end = rest.find_first_of("\"\\");
  return end == std::string_view::npos || rest[end] != '"' ? std::string_view()
                                                           : rest.substr(0, end);
}

/// Parts of an item, whole, which its own event brings once more: megabytes of a long text.
bool is_told_again(std::string_view type) {
  return type == "response.output_text.done" || type == "response.content_part.done" ||
         type == "response.function_call_arguments.done" ||
         type == "response.custom_tool_call_input.done" || type == "response.reasoning_text.done" ||
         type == "response.reasoning_summary_text.done" ||
         type == "response.reasoning_summary_part.done";
}

std::optional<Usage> read_usage(const Json& usage) {
  if (!usage.is_object()) return std::nullopt;
  return Usage{
      .input_tokens = token_count(usage, "input_tokens"),
      .cached_input_tokens = token_count(usage["input_tokens_details"], "cached_tokens"),
      .output_tokens = token_count(usage, "output_tokens"),
      .reasoning_output_tokens = token_count(usage["output_tokens_details"], "reasoning_tokens")};
}

}  // namespace

WireDecoder::State ResponsesDecoder::read(const SseEvent& event) {
  if (state_ != State::going_on || event.data == "[DONE]") return state_;
  const std::string_view kind = quick_type(event);
  if (kind.ends_with(".delta")) {
    if (is_heard()) read_delta(kind, event.data);
    return state_;
  }
  if (is_told_again(kind)) return state_;
  try {
    // The items have come one by one; the last event tells all of them once more.
    const bool terminal = kind == "response.completed" || kind == "response.incomplete";
    Json json = terminal && !items_.empty() ? parse_json_without(event.data, "output")
                                            : parse_json(event.data);
    std::string type = json.string_at("type");
    if (type.empty()) type = event.name;
    if (type == "response.output_item.done") collected_ += event.data.size();
    if (collected_ > kMaxResponseBytes) return fail_as_cut("the response has more than 64 MiB");
    read_event(type, json);
  } catch (const JsonError& error) {
    fail_as_cut("an event of the stream is no JSON: " + std::string(error.what()) + " at byte " +
                std::to_string(error.offset()));
  }
  return state_;
}

/// What can't be read of it is passed over: the text comes once more, whole.
void ResponsesDecoder::read_delta(std::string_view type, std::string_view data) {
  const bool message = type == "response.output_text.delta";
  if (!message && type != "response.reasoning_summary_text.delta" &&
      type != "response.reasoning_text.delta")
    return;
  constexpr std::string_view kBegin = "\"delta\":";
  // Member names are the provider's own, and no text stands before this one but for ids.
  std::size_t at = data.find(kBegin);
  if (at == std::string_view::npos) return;
  at += kBegin.size();
  while (at < data.size() && data[at] == ' ') ++at;
  if (at >= data.size() || data[at] != '"') return;
  const std::size_t end = escaped_end(data, at + 1);
  if (end == std::string_view::npos) return;
  const std::string_view text = data.substr(at + 1, end - at - 1);
  if (message && message_.size() < kMaxResponseBytes) grow_by(message_, text);
  tell_escaped(message ? Text::message : Text::reasoning, text);
}

std::string ResponsesDecoder::message_so_far() const {
  std::string message;
  for (const auto& [index, item] : items_)
    for (const Json& part : item["content"].items())
      if (part.string_at("type") == "output_text") message += part["text"].text();
  try {
    message += unescaped_text(message_);
  } catch (const JsonError&) {
    // Half of it is no text; the rest is worth having.
  }
  return message;
}

void ResponsesDecoder::read_event(std::string_view type, Json& event) {
  if (type == "response.created" || type == "response.in_progress") {
    response_.id = event["response"].string_at("id", response_.id);
    response_.served_model = event["response"].string_at("model", response_.served_model);
  } else if (type == "response.output_item.done") {
    // An index that nobody counts to has no next one.
    const auto last = items_.empty() ? -1 : items_.rbegin()->first;
    const auto next = last == std::numeric_limits<std::int64_t>::max() ? last : last + 1;
    if (Json* item = event.find("item")) {
      if (item->string_at("type") == "message") message_ = {};
      items_[event["output_index"].integer().value_or(next)] = std::move(*item);
    }
  } else if (type == "response.completed") {
    complete(event["response"], false);
  } else if (type == "response.incomplete") {
    complete(event["response"], true);
  } else if (type == "response.failed") {
    fail_with(event["response"]["error"]);
  } else if (type == "response.cancelled") {
    fail(failure_of_code("server_error", "the provider cancelled the response"));
  } else if (type == "error") {
    fail_with(event["error"].is_object() ? event["error"] : event);
  }
  // Other types tell of parts that the events above bring whole.
}

void ResponsesDecoder::complete(const Json& response, bool incomplete) {
  response_.id = response.string_at("id", response_.id);
  response_.served_model = response.string_at("model", response_.served_model);
  response_.raw_usage = response["usage"];
  response_.usage = read_usage(response["usage"]);
  response_.incomplete = incomplete;
  response_.stop_reason = "completed";
  if (incomplete)
    response_.stop_reason = response["incomplete_details"].string_at("reason", "incomplete");
  if (response_.stop_reason == "content_filter")
    return fail(
        failure_of_code("content_filter", "the provider's content filter ended the response"));

  std::vector<Json> output;
  for (auto& [index, item] : items_) output.push_back(std::move(item));
  if (output.empty()) output = response["output"].items();
  if (output.size() > kMaxResponseItems) {
    fail_as_cut("the response has more than " + std::to_string(kMaxResponseItems) + " items");
    return;
  }
  std::string refusal;
  read_output_items(std::move(output), calls_, response_, refusal);
  if (!refusal.empty()) return fail(failure_of_code("content_filter", refusal));
  state_ = State::complete;
}

void ResponsesDecoder::fail(ModelFailure failure) {
  failure_ = std::move(failure);
  state_ = State::failed;
}

WireDecoder::State ResponsesDecoder::fail_as_cut(const std::string& message) {
  ModelFailure failure;
  failure.status = 200;
  failure.kind = "cut";
  failure.message = message;
  fail(std::move(failure));
  return state_;
}

void ResponsesDecoder::fail_with(const Json& error) {
  fail(failure_of_error(error, std::chrono::system_clock::now()));
}

}  // namespace sortie
