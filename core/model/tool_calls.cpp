#include "core/model/tool_calls.h"

#include <utility>

#include "core/text/text.h"

namespace sortie {

namespace {

/// Parses a JSON object; null if the text is not one.
Json object_of(const std::string& text) {
  try {
    Json json = parse_json(text);
    if (json.is_object()) return json;
  } catch (const JsonError&) {
    // The tool reports it to the model.
  }
  return {};
}

/// The arguments of a free-text tool declared as a function: {"input": TEXT}.
std::string free_text_arguments(const std::string& text) {
  return write_json(Json::object({{"input", text}}));
}

/// Renames the first call with this id in an item, or message, of any wire: `tool_calls` of Chat
/// Completions, `call_id` of Responses, `id` of Messages.
/// @return  whether it has one
bool rename_in_json(std::string& text, const std::string& from, const std::string& to) {
  Json item;
  try {
    item = parse_json(text);
  } catch (const JsonError&) {
    return false;
  }
  Json* owner = nullptr;
  const char* member = "id";
  if (Json* calls = item.find("tool_calls")) {
    for (Json& call : calls->items())
      if (owner == nullptr && call.string_at("id") == from) owner = &call;
  } else if (item.string_at("call_id") == from) {
    owner = &item;
    member = "call_id";
  } else if (item.string_at("type") == "tool_use" && item.string_at("id") == from) {
    owner = &item;
  }
  if (owner == nullptr) return false;
  owner->set(member, to);
  text = write_json(item);
  return true;
}

}  // namespace

void rename_call(Response& response, std::size_t index, const std::string& call_id) {
  Item& item = response.items.at(index);
  auto& call = std::get<ToolCall>(item.content);
  const std::string before = std::exchange(call.call_id, call_id);
  if (!item.received.empty() && !rename_in_json(item.received, before, call_id))
    item.received.clear();  // what the call says is all that is sent back then
  for (std::string& text : response.output)
    if (rename_in_json(text, before, call_id)) break;
}

std::string not_run(const std::string& name, const std::string& why) {
  return "Your call of the tool '" + one_line_of_words(name, 80) + "' was not run: " + why +
         " Send the call again, corrected.";
}

CallReading CallReader::read(ToolCall call) {
  if (call.name.empty()) return {.finding = not_run("", "it has no tool name.")};
  if (call.call_id.empty()) return {.finding = not_run(call.name, "it has no call id.")};
  if (call.form != ToolCall::Form::custom) {
    if (call.arguments.empty()) call.arguments = "{}";  // some servers send "" for no arguments
    if (call.form == ToolCall::Form::function && free_text_.count(call.name) != 0) {
      const Json arguments = object_of(call.arguments);
      const Json& input = arguments["input"];
      if (input.is_string() && arguments.members().size() == 1) {
        call.form = ToolCall::Form::custom;
        call.arguments = input.text();
      }
    }
  }
  if (!call_ids_.insert(call.call_id).second)
    return {.finding = not_run(call.name, "its call id '" + one_line_of_words(call.call_id, 80) +
                                              "' was already used by another call.")};
  return {.call = std::move(call)};
}

std::set<std::string> free_text_functions(const ModelSettings& settings) {
  std::set<std::string> names;
  for (const ToolSpec& tool : settings.tools)
    if (tool.form == ToolCall::Form::custom) names.insert(tool.name);
  return names;
}

Json free_text_parameters(const ToolSpec& tool) {
  std::string description = "The whole input of the tool, as plain text.";
  if (!tool.grammar.empty()) description += " It follows this Lark grammar:\n" + tool.grammar;
  return Json::object(
      {{"type", "object"},
       {"properties", Json::object({{"input", Json::object({{"type", "string"},
                                                            {"description", description}})}})},
       {"required", Json::array({"input"})},
       {"additionalProperties", false}});
}

std::string object_arguments(const ToolCall& call) {
  if (call.form == ToolCall::Form::custom) return free_text_arguments(call.arguments);
  if (trimmed(call.arguments).empty()) return "{}";
  return object_of(call.arguments).is_object() ? call.arguments
                                               : free_text_arguments(call.arguments);
}

}  // namespace sortie
