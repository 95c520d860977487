#include "core/model/responses/response_items.h"

#include <algorithm>

#include "core/text/text.h"

namespace sortie {

namespace {

/// What one output item turned out to be.
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

/// Takes its text out: it may be megabytes.
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
                                         " is missing or no string.")};
  return reading_of(calls.read({item.string_at("call_id"), name, input.text(), form}));
}

/// Why the shell tool can't do what the action says; "" where it can.
std::string unfit_action(const Json& action) {
  if (action.string_at("type", "exec") != "exec") return "its action is none that is known here.";
  const auto& command = action["command"].items();
  const bool words = std::all_of(command.begin(), command.end(),
                                 [](const Json& word) { return word.is_string(); });
  if (command.empty() || !words) return "its command is no list of strings.";
  if (!action["env"].members().empty())
    return "variables can't be set by `env`; run `env NAME=VALUE COMMAND` instead.";
  if (!action["user"].is_null()) return "commands can't be run as another user.";
  return "";
}

/// As a call of `shell`.
Reading read_local_shell(const Json& item, CallReader& calls) {
  constexpr const char* kName = "local_shell";
  const Json& action = item["action"];
  if (const std::string why = unfit_action(action); !why.empty())
    return {.finding = not_run(kName, why)};
  Json arguments = Json::object({{"command", action["command"]}});
  if (action["working_directory"].is_string())
    arguments.set("workdir", action["working_directory"]);
  if (action["timeout_ms"].is_number()) arguments.set("timeout_ms", action["timeout_ms"]);
  return reading_of(calls.read(
      {item.string_at("call_id"), kName, write_json(arguments), ToolCall::Form::local_shell}));
}

/// What the provider has looked for by itself.
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
    // The output limit cut it off: a call may lack half of its arguments, reasoning its content.
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
  return {.finding = "Your response had an item of type '" + one_line_of_words(type, 80) +
                     "', which can't be used here; nothing was done with it. Use the tools that "
                     "you were given."};
}

}  // namespace

void read_output_items(std::vector<Json> output, CallReader& calls, Response& response,
                       std::string& refusal) {
  std::vector<std::string> texts;
  std::vector<Reading> readings;
  for (Json& raw : output) {
    Json item = std::move(raw);  // gone before the next: it may be megabytes
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

}  // namespace sortie
