#include "core/model/openai_responses.h"

#include "core/model/responses_decoder.h"

namespace sortie {

namespace {

/// Whether the model takes the `reasoning` member. For a name that is not known, the task's word
/// that it wants an effort is enough.
bool reasons(std::string_view model, std::string_view effort) {
  const bool o_series = model.size() >= 2 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9';
  if (model.starts_with("gpt-5-chat")) return false;
  if (model.starts_with("gpt-4") || model.starts_with("gpt-3")) return false;
  return model.starts_with("gpt-5") || model.starts_with("codex") || o_series || !effort.empty();
}

Json tool_json(const ToolSpec& tool) {
  if (tool.form == ToolCall::Form::custom) {
    Json format =
        tool.grammar.empty()
            ? Json::object({{"type", "text"}})
            : Json::object({{"type", "grammar"}, {"syntax", "lark"}, {"definition", tool.grammar}});
    return Json::object({{"type", "custom"},
                         {"name", tool.name},
                         {"description", tool.description},
                         {"format", std::move(format)}});
  }
  return Json::object(
      {{"type", "function"},
       {"name", tool.name},
       {"description", tool.description},
       {"parameters", tool.parameters.is_object()
                          ? tool.parameters
                          : Json::object({{"type", "object"}, {"properties", Json::object()}})},
       {"strict", false}});
}

Json item_json(const Message& message) {
  const bool user = message.role == Message::Role::user;
  if (!user)  // the short form: as output it would need an id, which is the provider's to give
    return Json::object({{"type", "message"}, {"role", "assistant"}, {"content", message.text}});
  return Json::object(
      {{"type", "message"},
       {"role", "user"},
       {"content", Json::array({Json::object({{"type", "input_text"}, {"text", message.text}})})}});
}

Json item_json(const Reasoning& reasoning) {
  Json summary = Json::array();
  if (!reasoning.summary.empty())
    summary.push_back(Json::object({{"type", "summary_text"}, {"text", reasoning.summary}}));
  return Json::object({{"type", "reasoning"}, {"id", ""}, {"summary", std::move(summary)}});
}

/// Only ever handed back in the bytes it came in.
Json item_json(const ProviderItem& item) { return Json::object({{"type", item.type}}); }

Json item_json(const ToolCall& call) {
  const bool custom = call.form == ToolCall::Form::custom;
  return Json::object({{"type", custom ? "custom_tool_call" : "function_call"},
                       {"call_id", call.call_id},
                       {"name", call.name},
                       {custom ? "input" : "arguments", call.arguments}});
}

Json item_json(const ToolOutput& output) {
  const bool custom = output.form == ToolCall::Form::custom;
  return Json::object({{"type", custom ? "custom_tool_call_output" : "function_call_output"},
                       {"call_id", output.call_id},
                       {"output", output.text}});
}

}  // namespace

std::string OpenAiResponses::encode_head(const ModelSettings& settings) const {
  Json body = Json::object({{"model", settings.model}, {"instructions", settings.instructions}});
  if (!settings.tools.empty()) {
    Json tools = Json::array();
    for (const ToolSpec& tool : settings.tools) tools.push_back(tool_json(tool));
    body.set("tools", std::move(tools));
    body.set("tool_choice", "auto");
    body.set("parallel_tool_calls", true);
  }
  if (reasons(settings.model, settings.effort)) {
    Json reasoning;
    if (!settings.effort.empty()) reasoning.set("effort", settings.effort);
    reasoning.set("summary", "auto");
    body.set("reasoning", std::move(reasoning));
  }
  body.set("store", false);
  body.set("stream", true);
  body.set("include", Json::array({"reasoning.encrypted_content"}));
  if (!settings.run_id.empty()) body.set("prompt_cache_key", settings.run_id);
  if (settings.max_output_tokens > 0 && !options_.chatgpt)
    body.set("max_output_tokens", settings.max_output_tokens);
  if (settings.temperature && !options_.chatgpt) body.set("temperature", *settings.temperature);
  std::string text = write_json(body);
  text.pop_back();  // `input` is the last member, so that a longer history only appends
  return text + ",\"input\":[";
}

void OpenAiResponses::encode_items(const std::vector<Item>& items, std::size_t from,
                                   const ModelSettings&, std::string& to) const {
  for (std::size_t i = from; i < items.size(); ++i) {
    if (i > 0) to += ',';
    if (!items[i].received.empty())
      to += items[i].received;
    else
      std::visit([&to](const auto& content) { write_json(item_json(content), to); },
                 items[i].content);
  }
}

std::unique_ptr<WireDecoder> OpenAiResponses::decoder(const ModelSettings&) const {
  return std::make_unique<ResponsesDecoder>();
}

}  // namespace sortie
