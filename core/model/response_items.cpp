#include "core/model/response_items.h"

#include "core/base/text.h"
#include "core/model/tool_calls.h"

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
    text += part.string_at("text");
  }
  return text;
}

Reading read_message(const Json& item) {
  const Json& content = item["content"];
  for (const Json& part : content.items())
    if (part.string_at("type") == "refusal") return {.refusal = part.string_at("refusal")};
  Message message{Message::Role::assistant, {}};
  message.text = content.is_string() ? content.text() : joined_text(content, "output_text", "");
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

Reading read_item(const Json& item, CallReader& calls) {
  const std::string type = item.string_at("type");
  if (item.string_at("status") == "incomplete") {
    // The output limit cut it off: a call may lack half of its arguments, reasoning its content.
    if (type == "reasoning") return {};
    if (type != "message")
      return {.finding = not_run(item.string_at("name"), "it was cut off at the output limit.")};
  }
  if (type == "message") return read_message(item);
  if (type == "reasoning") return read_reasoning(item);
  if (type == "function_call") return read_call(item, ToolCall::Form::function, calls);
  if (type == "custom_tool_call") return read_call(item, ToolCall::Form::custom, calls);
  return {.finding = "Your response had an item of type '" + one_line(type, 80) +
                     "', which can't be used here; nothing was done with it. Use the tools that "
                     "you were given."};
}

}  // namespace

void read_output_items(const std::vector<Json>& output, Response& response, std::string& refusal) {
  CallReader calls;
  for (const Json& raw : output) {
    std::string text = write_json(raw);
    Reading reading = read_item(raw, calls);
    if (!reading.refusal.empty()) refusal = reading.refusal;
    if (reading.item) {
      reading.item->received = text;
      response.items.push_back(std::move(*reading.item));
    } else if (!reading.finding.empty()) {
      response.findings.push_back(std::move(reading.finding));
      // The provider refuses reasoning that is not followed by the item it led to.
      while (!response.items.empty() &&
             std::holds_alternative<Reasoning>(response.items.back().content))
        response.items.pop_back();
    }
    response.output.push_back(std::move(text));
  }
}

}  // namespace sortie
