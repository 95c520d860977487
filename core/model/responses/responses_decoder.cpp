#include "core/model/responses/responses_decoder.h"

#include <algorithm>
#include <vector>

#include "core/json/json.h"
#include "core/model/escaped_text.h"
#include "core/model/model.h"
#include "core/model/responses/responses_delta.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Sorts a complete response's output items into usable items and findings.
///
/// @param calls    of this response
/// @param refusal  set to the provider's text if the model refused
void read_output_items(std::vector<Json> output, CallReader& calls, Response& response,
                       std::string& refusal);

/// What an output item was read as.
struct Reading {
  std::optional<Item> item{};
  std::string finding{};
  std::string refusal{};
};

/// The text of `parts`, each with a text member of this type.
std::string joined_text(const Json& parts, std::string_view type, const char* between) {
  std::string text;
  for (const Json& part : parts.items()) {
    if (part.string_at("type") != type) continue;
    if (!text.empty()) text += between;
    text += part["text"].text();
  }
  return text;
}

/// Moves the text out of the item: it may be megabytes.
Reading read_message(Json& item) {
  Message message{Message::Role::assistant, {}};
  if (Json* content = item.find("content")) {
    for (const Json& part : content->items())
      if (part.string_at("type") == "refusal") return {.refusal = part.string_at("refusal")};
    if (content->is_string()) message.text = content->take_text();
    for (Json& part : content->items()) {
      Json* text = part.string_at("type") == "output_text" ? part.find("text") : nullptr;
      if (text && message.text.empty())
        message.text = text->take_text();
      else if (text)
        message.text += text->text();
    }
  }
  return {.item = Item{std::move(message)}};
}

Reading read_reasoning(const Json& item) {
  return {.item = Item{Reasoning{joined_text(item["summary"], "summary_text", "\n\n")}}};
}

Reading reading_of(CallReading call) {
  if (!call.call) return {.finding = std::move(call.finding)};
  return {.item = Item{std::move(*call.call)}};
}

Reading read_call(const Json& item, ToolCall::Form form, CallReader& calls) {
  const bool custom = form == ToolCall::Form::custom;
  const std::string name = item.string_at("name");
  const Json& input = item[custom ? "input" : "arguments"];
  if (!input.is_string())
    return {.finding = not_run(name, std::string("its ") + (custom ? "input" : "arguments") +
                                         " is missing or not a string.")};
  return reading_of(calls.read({item.string_at("call_id"), name, input.text(), form}));
}

/// Why the shell tool can't run the action, or "".
std::string unfit_action(const Json& action) {
  if (action.string_at("type", "exec") != "exec") return "its action is not supported.";
  const auto& command = action["command"].items();
  const bool words = std::all_of(command.begin(), command.end(),
                                 [](const Json& word) { return word.is_string(); });
  if (command.empty() || !words) return "its command is not a list of strings.";
  for (const auto& [variable, value] : action["env"].members())
    if (variable.empty() || variable.find('=') != std::string::npos || !value.is_string())
      return "its env is not an object of names with strings.";
  if (!action["user"].is_null()) return "commands can't be run as another user.";
  return "";
}

/// The command; with variables as `env NAME=VALUE … COMMAND`, which the policy's rules read too.
Json command_of(const Json& action) {
  const auto& variables = action["env"].members();
  if (variables.empty()) return action["command"];
  Json command = Json::array({"env"});
  for (const auto& [name, value] : variables) command.push_back(name + "=" + value.text());
  for (const Json& word : action["command"].items()) command.push_back(word);
  return command;
}

/// Converts it to a call of `shell`.
Reading read_local_shell(const Json& item, CallReader& calls) {
  constexpr const char* kName = "local_shell";
  const Json& action = item["action"];
  if (const std::string why = unfit_action(action); !why.empty())
    return {.finding = not_run(kName, why)};
  Json arguments = Json::object({{"command", command_of(action)}});
  if (action["working_directory"].is_string())
    arguments.set("workdir", action["working_directory"]);
  if (action["timeout_ms"].is_number()) arguments.set("timeout_ms", action["timeout_ms"]);
  return reading_of(calls.read(
      {item.string_at("call_id"), kName, write_json(arguments), ToolCall::Form::local_shell}));
}

/// A search run by the provider.
Reading read_web_search(const Json& item) {
  const Json& action = item["action"];
  std::string what = action.string_at("query");
  for (const Json& query : action["queries"].items())
    if (what.empty()) what = query.text();
  if (what.empty()) what = action.string_at("pattern");
  const std::string url = action.string_at("url");
  if (!url.empty()) what += (what.empty() ? "" : " in ") + url;
  return {.item = Item{ProviderItem{item.string_at("type"), one_line_of_words(what, 200)}}};
}

Reading read_item(Json& item, CallReader& calls) {
  const std::string type = item.string_at("type");
  if (item.string_at("status") == "incomplete") {
    // Cut off by the output limit: arguments or reasoning may be incomplete.
    if (type == "reasoning") return {};
    if (type != "message")
      return {.finding =
                  not_run(item.string_at("name", type), "it was cut off at the output limit.")};
  }
  if (type == "message") return read_message(item);
  if (type == "reasoning") return read_reasoning(item);
  if (type == "function_call") return read_call(item, ToolCall::Form::function, calls);
  if (type == "custom_tool_call") return read_call(item, ToolCall::Form::custom, calls);
  if (type == "local_shell_call") return read_local_shell(item, calls);
  if (type == "web_search_call") return read_web_search(item);
  return {.finding =
              "Your response had an item of type '" + one_line_of_words(type, 80) +
              "', which can't be used here and was ignored. Use only the tools that you were "
              "given."};
}

void read_output_items(std::vector<Json> output, CallReader& calls, Response& response,
                       std::string& refusal) {
  std::vector<std::string> texts;
  std::vector<Reading> readings;
  for (Json& raw : output) {
    Json item = std::move(raw);  // freed before the next one: it may be megabytes
    // Some servers send an object; sent back, it has to be the text that the format wants.
    if (Json* arguments = item.find("arguments"); arguments && arguments->is_object())
      *arguments = write_json(*arguments);
    texts.push_back(write_large_json(item));
    readings.push_back(read_item(item, calls));
  }
  const bool all_used = std::all_of(readings.begin(), readings.end(),
                                    [](const Reading& each) { return each.finding.empty(); });
  for (std::size_t i = 0; i < readings.size(); ++i) {
    Reading& reading = readings[i];
    if (!reading.refusal.empty()) refusal = reading.refusal;
    if (!all_used) response.output.push_back(texts[i]);
    if (reading.item) {
      reading.item->received = std::move(texts[i]);
      response.items.push_back(std::move(*reading.item));
    } else if (!reading.finding.empty()) {
      response.findings.push_back(std::move(reading.finding));
      // The provider refuses reasoning that is not followed by the item it led to.
      while (!response.items.empty() &&
             std::holds_alternative<Reasoning>(response.items.back().content))
        response.items.pop_back();
    }
  }
}

/// Events with whole parts of an item, which the item's own event repeats: megabytes of a long text.
bool is_repeated_later(std::string_view type) {
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
  const std::string_view kind = quick_type(event.name, event.data);
  if (kind.ends_with(".delta")) {
    if (wants_text()) read_delta(kind, event.data);
    return state_;
  }
  if (is_repeated_later(kind)) return state_;
  try {
    const bool terminal = kind == "response.completed" || kind == "response.incomplete";
    Json json = terminal ? read_terminal(event.data) : parse_json(event.data);
    std::string type = json.string_at("type");
    if (type.empty()) type = event.name;
    if (!json.is_object() && type.starts_with("response."))
      return fail_as_cut("the event " + type + " of the stream is not an object"), state_;
    if (type == "response.output_item.done") collected_ += event.data.size();
    if (collected_ > kMaxResponseBytes)
      fail_as_cut("the response has more than 64 MiB");
    else
      read_event(type, json);
  } catch (const JsonError& error) {
    fail_as_cut("an event of the stream is not JSON: " + std::string(error.what()) + " at byte " +
                std::to_string(error.offset()));
  }
  return state_;
}

WireDecoder::State ResponsesDecoder::read_whole(std::string_view body) {
  try {
    Json response = parse_json(body);
    if (!response["error"].is_null())
      fail_with(response["error"]);
    else if (response["output"].is_array()) {
      const bool incomplete = response.string_at("status") == "incomplete";
      complete(std::move(response), incomplete);
    }
  } catch (const JsonError&) {
    // The caller shows the body.
  }
  return state_;
}

/// Of the stream that it has, only the terminal event says something.
WireDecoder::State ResponsesDecoder::read_recorded(const RecordedResponse& recorded) {
  complete(response_json(recorded), recorded.incomplete);
  return state_;
}

/// The last event repeats the items: mostly all of them, and no others. Then it has no output.
Json ResponsesDecoder::read_terminal(std::string_view data) const {
  if (items_.items().empty()) return parse_json(data);
  Json event = parse_json_without_long_texts(data);
  Json* const response = event.find("response");
  Json* const output = response ? response->find("output") : nullptr;
  if (!output) return event;
  if (!items_.are_all_of(*output)) return parse_json(data);
  *output = Json::array();
  return event;
}

/// Ignores what it can't read: the whole text comes later.
void ResponsesDecoder::read_delta(std::string_view type, std::string_view data) {
  const bool message = type == "response.output_text.delta";
  if (!message && type != "response.reasoning_summary_text.delta" &&
      type != "response.reasoning_text.delta")
    return;
  const std::string_view text = delta_of(data);
  if (message && message_.size() < kMaxResponseBytes) grow_by(message_, text);
  emit_escaped(message ? Text::message : Text::reasoning, text);
}

std::string ResponsesDecoder::message_so_far() const {
  std::string message;
  for (const auto& [index, item] : items_.items())
    for (const Json& part : item["content"].items())
      if (part.string_at("type") == "output_text") message += part["text"].text();
  try {
    message += unescaped_text(message_);
  } catch (const JsonError&) {
    // Text cut off within an escape: the rest is still useful.
  }
  return message;
}

void ResponsesDecoder::read_event(std::string_view type, Json& event) {
  if (type == "response.created" || type == "response.in_progress") {
    response_.id = event["response"].string_at("id", response_.id);
    response_.served_model = event["response"].string_at("model", response_.served_model);
  } else if (type == "response.output_item.done") {
    Json* item = event.find("item");
    const bool is_message = item && item->string_at("type") == "message";
    if (!item || !item->is_object() || !items_.add(event["output_index"].integer(), *item))
      return fail_as_cut("an item of the stream can't be read");
    if (is_message) std::string().swap(message_);  // given back
  } else if (type == "response.completed" || type == "response.incomplete") {
    Json* const response = event.find("response");
    if (!response || !response->is_object())
      return fail_as_cut("the terminal event of the stream has no response");
    complete(std::move(*response), type == "response.incomplete");
  } else if (type == "response.failed") {
    fail_with(event["response"]["error"]);
  } else if (type == "response.cancelled") {
    fail(failure_of_code("server_error", "the provider cancelled the response"));
  } else if (type == "error") {
    fail_with(event["error"].is_object() ? event["error"] : event);
  }
  // Other types describe parts that the events above have whole.
}

void ResponsesDecoder::complete(Json response, bool incomplete) {
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

  Json* const items = response.find("output");
  std::vector<Json> output =
      items_.take_with(items ? std::move(items->items()) : std::vector<Json>());
  if (output.size() > kMaxResponseItems) {
    fail_as_cut("the response has more than " + std::to_string(kMaxResponseItems) + " items");
    return;
  }
  std::string refusal;
  read_output_items(std::move(output), calls_, response_, refusal);
  if (!refusal.empty()) return fail(failure_of_code("content_filter", refusal));
  state_ = State::complete;
}

Json response_json(const RecordedResponse& recorded) {
  Json response = Json::object({{"id", recorded.id},
                                {"model", recorded.model},
                                {"output", recorded.output},
                                {"usage", recorded.usage}});
  if (recorded.incomplete)
    response.set("incomplete_details", Json::object({{"reason", recorded.reason}}));
  return response;
}

void ResponsesDecoder::fail_with(const Json& error) {
  fail(failure_of_error(error, std::chrono::system_clock::now()));
}

}  // namespace sortie
