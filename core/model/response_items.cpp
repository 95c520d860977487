#include "core/model/response_items.h"

#include <set>

#include "core/base/text.h"

namespace sortie {

namespace {

constexpr std::size_t kShownBytes = 200;

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

std::string not_run(const std::string& name, const std::string& why) {
  return "Your call of the tool '" + one_line(name, 80) + "' was not run: " + why +
         " Send the call again, corrected.";
}

Reading read_call(const Json& item, ToolCall::Form form, std::set<std::string>& call_ids) {
  const bool custom = form == ToolCall::Form::custom;
  const Json& input = item[custom ? "input" : "arguments"];
  ToolCall call{item.string_at("call_id"), item.string_at("name"), input.text(), form};
  if (call.name.empty()) return {.finding = not_run("", "it names no tool.")};
  if (call.call_id.empty()) return {.finding = not_run(call.name, "it has no call id.")};
  if (!input.is_string())
    return {.finding = not_run(call.name, std::string("its ") + (custom ? "input" : "arguments") +
                                              " is missing or no string.")};
  if (!custom) {
    if (call.arguments.empty()) call.arguments = "{}";  // how some servers call without arguments
    std::string why;
    try {
      if (!parse_json(call.arguments).is_object()) why = "they are another JSON value";
    } catch (const JsonError& error) {
      why = std::string(error.what()) + " at byte " + std::to_string(error.offset());
    }
    if (!why.empty())
      return {.finding = not_run(call.name, "its arguments are no JSON object (" + why +
                                                "): " + one_line(call.arguments, kShownBytes))};
  }
  if (!call_ids.insert(call.call_id).second)
    return {.finding = not_run(call.name, "its call id '" + one_line(call.call_id, 80) +
                                              "' was used by another call before.")};
  return {.item = Item{std::move(call)}};
}

Reading read_item(const Json& item, std::set<std::string>& call_ids) {
  const std::string type = item.string_at("type");
  if (item.string_at("status") == "incomplete") {
    // The output limit cut it off: a call may lack half of its arguments, reasoning its content.
    if (type == "reasoning") return {};
    if (type != "message")
      return {.finding = not_run(item.string_at("name"), "it was cut off at the output limit.")};
  }
  if (type == "message") return read_message(item);
  if (type == "reasoning") return read_reasoning(item);
  if (type == "function_call") return read_call(item, ToolCall::Form::function, call_ids);
  if (type == "custom_tool_call") return read_call(item, ToolCall::Form::custom, call_ids);
  return {.finding = "Your response had an item of type '" + one_line(type, 80) +
                     "', which can't be used here; nothing was done with it. Use the tools that "
                     "you were given."};
}

}  // namespace

void read_output_items(const std::vector<Json>& output, Response& response, std::string& refusal) {
  std::set<std::string> call_ids;
  for (const Json& raw : output) {
    std::string text = write_json(raw);
    Reading reading = read_item(raw, call_ids);
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
