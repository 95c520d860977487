#include "core/model/tool_calls.h"

#include "core/base/words.h"

namespace sortie {

namespace {

constexpr std::size_t kShownBytes = 200;

/// Why the text is no JSON object; "" where it is one, which `object` is then.
std::string read_object(const std::string& text, Json& object) {
  try {
    object = parse_json(text);
  } catch (const JsonError& error) {
    return std::string(error.what()) + " at byte " + std::to_string(error.offset());
  }
  return object.is_object() ? "" : "they are another JSON value";
}

}  // namespace

std::string not_run(const std::string& name, const std::string& why) {
  return "Your call of the tool '" + one_line_of_words(name, 80) + "' was not run: " + why +
         " Send the call again, corrected.";
}

CallReading CallReader::read(ToolCall call) {
  if (call.name.empty()) return {.finding = not_run("", "it names no tool.")};
  if (call.call_id.empty()) return {.finding = not_run(call.name, "it has no call id.")};
  if (call.form != ToolCall::Form::custom) {
    if (call.arguments.empty()) call.arguments = "{}";  // how some servers call without arguments
    Json arguments;
    const std::string why = read_object(call.arguments, arguments);
    if (!why.empty())
      return {.finding = not_run(call.name, "its arguments are no JSON object (" + why + "): " +
                                                one_line_of_words(call.arguments, kShownBytes))};
    if (call.form == ToolCall::Form::function && free_text_.count(call.name) != 0) {
      const Json& input = arguments["input"];
      if (!input.is_string() || arguments.members().size() != 1)
        return {.finding = not_run(call.name,
                                   "its arguments have to be {\"input\": TEXT} and "
                                   "nothing else: " +
                                       one_line_of_words(call.arguments, kShownBytes))};
      call.form = ToolCall::Form::custom;
      call.arguments = input.text();
    }
  }
  if (!call_ids_.insert(call.call_id).second)
    return {.finding = not_run(call.name, "its call id '" + one_line_of_words(call.call_id, 80) +
                                              "' was used by another call before.")};
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

std::string free_text_arguments(const std::string& text) {
  return write_json(Json::object({{"input", text}}));
}

}  // namespace sortie
