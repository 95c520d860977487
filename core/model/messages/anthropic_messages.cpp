#include "core/model/messages/anthropic_messages.h"

#include <algorithm>

#include "core/catalog/claude_model.h"
#include "core/model/messages/messages_blocks.h"
#include "core/model/messages/messages_decoder.h"
#include "core/model/tool_calls.h"

namespace sortie {

namespace {

Json cache_mark() { return Json::object({{"type", "ephemeral"}}); }

Json tool_json(const ToolSpec& tool) {
  if (tool.form == ToolCall::Form::web_search)
    return Json::object({{"type", "web_search_20250305"}, {"name", "web_search"}});
  Json schema = Json::object({{"type", "object"}, {"properties", Json::object()}});
  if (tool.form == ToolCall::Form::custom)
    schema = free_text_parameters(tool);
  else if (tool.parameters.is_object())
    schema = tool.parameters;
  if (!schema.find("type")) schema.set("type", "object");
  Json json = Json::object({{"name", tool.name}});
  if (!tool.description.empty()) json.set("description", tool.description);
  json.set("input_schema", std::move(schema));
  return json;
}

}  // namespace

std::string AnthropicMessages::encode_head(const ModelSettings& settings) const {
  const ClaudeModel model = claude_model(settings.model);
  std::int64_t max_tokens = settings.max_output_tokens;
  if (model.max_output_tokens > 0) max_tokens = std::min(max_tokens, model.max_output_tokens);
  ThinkingConfig config = thinking_config(model, settings.effort, max_tokens);

  Json body =
      Json::object({{"model", settings.model}, {"max_tokens", max_tokens}, {"stream", true}});
  if (!is_blank(settings.instructions))
    body.set("system", Json::array({Json::object({{"type", "text"},
                                                  {"text", settings.instructions},
                                                  {"cache_control", cache_mark()}})}));
  if (!settings.tools.empty()) {
    Json tools = Json::array();
    for (const ToolSpec& tool : settings.tools) tools.push_back(tool_json(tool));
    body.set("tools", std::move(tools));
  }
  // Thinking and a temperature exclude each other.
  if (settings.temperature && model.takes_temperature && config.thinking.is_null())
    body.set("temperature", std::min(*settings.temperature, 1.0));
  if (!config.thinking.is_null()) body.set("thinking", std::move(config.thinking));
  if (!config.output_config.is_null()) body.set("output_config", std::move(config.output_config));
  std::string text = write_json(body);
  text.pop_back();  // `messages` is the last member, so that a longer history only appends
  return text + R"(,"messages":[)";
}

std::unique_ptr<ItemWriter> AnthropicMessages::item_writer(const ModelSettings&) const {
  return std::make_unique<MessageBlocks>();
}

std::unique_ptr<WireDecoder> AnthropicMessages::decoder(const ModelSettings& settings) const {
  return std::make_unique<MessagesDecoder>(settings);
}

}  // namespace sortie
