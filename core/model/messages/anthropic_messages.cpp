#include "core/model/messages/anthropic_messages.h"

#include <algorithm>

#include "core/catalog/model_family.h"
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

/// null: not sent, which is auto.
Json tool_choice_json(const ModelSettings& settings) {
  const std::string choice = settings.tool_choice.now();
  if (choice == "none") return Json::object({{"type", "none"}});
  if (choice == "required") return Json::object({{"type", "any"}});
  const bool declared = std::any_of(settings.tools.begin(), settings.tools.end(),
                                    [&](const ToolSpec& tool) { return tool.name == choice; });
  return declared ? Json::object({{"type", "tool"}, {"name", choice}}) : Json();
}

/// Writes a content block as its start and its deltas.
void add_block(std::int64_t index, const Json& block, std::string& to) {
  Json begun = block;
  Json deltas = Json::array();
  const std::string type = block.string_at("type");
  const auto take = [&](const char* member, const char* delta_type) {
    Json* text = begun.find(member);
    if (!text || !text->is_string()) return;
    deltas.push_back(Json::object({{"type", delta_type}, {member, *text}}));
    *text = "";
  };
  if (type == "text") take("text", "text_delta");
  if (type == "thinking") {
    take("thinking", "thinking_delta");
    take("signature", "signature_delta");
  }
  if (type == "tool_use" || type == "server_tool_use") {
    const Json& input = block["input"];  // a string: the text received was not a JSON object
    deltas.push_back(
        Json::object({{"type", "input_json_delta"},
                      {"partial_json", input.is_string() ? input.text() : write_json(input)}}));
    begun.set("input", Json::object());
  }
  const auto add = [&](const char* name, const char* member, Json value) {
    Json event = Json::object({{"type", name}, {"index", index}});
    if (*member) event.set(member, std::move(value));
    add_sse_event(name, event, to);
  };
  add("content_block_start", "content_block", std::move(begun));
  for (Json& delta : deltas.items()) add("content_block_delta", "delta", std::move(delta));
  add("content_block_stop", "", {});
}

}  // namespace

std::string AnthropicMessages::encode_head(const ModelSettings& settings) const {
  const ClaudeModel model = claude_model(settings.model);
  std::int64_t max_tokens = settings.max_output_tokens;
  if (model.max_output_tokens > 0) max_tokens = std::min(max_tokens, model.max_output_tokens);
  ThinkingConfig config = thinking_config(model, settings.effort, max_tokens);
  // A model that thinks can't be forced to call a tool, and one answer with its calls is thought
  // through from its beginning or not at all.
  if (settings.tool_choice.forces()) config.thinking = {};

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
    if (Json choice = tool_choice_json(settings); !choice.is_null())
      body.set("tool_choice", std::move(choice));
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

std::string AnthropicMessages::stream_of(const RecordedResponse& recorded) const {
  std::string text;
  add_sse_event("message_start",
                Json::object({{"type", "message_start"},
                              {"message", Json::object({{"id", recorded.id},
                                                        {"type", "message"},
                                                        {"role", "assistant"},
                                                        {"model", recorded.model},
                                                        {"content", Json::array()},
                                                        {"stop_reason", nullptr},
                                                        {"usage", recorded.usage}})}}),
                text);
  bool calls = false;
  std::int64_t index = 0;
  for (const Json& block : recorded.output.items()) {
    calls = calls || block.string_at("type") == "tool_use";
    add_block(index++, block, text);
  }
  const char* reason = recorded.reason == "pause_turn" ? "pause_turn"
                       : recorded.incomplete           ? "max_tokens"
                       : calls                         ? "tool_use"
                                                       : "end_turn";
  add_sse_event("message_delta",
                Json::object({{"type", "message_delta"},
                              {"delta", Json::object({{"stop_reason", reason}})},
                              {"usage", recorded.usage}}),
                text);
  add_sse_event("message_stop", Json::object({{"type", "message_stop"}}), text);
  return text;
}

std::string AnthropicMessages::stream_of_text(const std::string& text) const {
  std::string stream;
  add_block(0, Json::object({{"type", "text"}, {"text", text}}), stream);
  return stream;
}

HttpHeaders AnthropicMessages::headers(const std::string&) const {
  return {{"anthropic-version", "2023-06-01"}};
}

std::optional<SaidList> said_in_messages(const Json& item) {
  const std::string type = item.string_at("type");
  const std::string name = item.string_at("name");
  const auto search = [&](const char* kind, const char* member) {
    const std::string text = item["input"].string_at(member);
    return SaidList{{Said::Kind::web_search, text, Json::object({{"type", kind}, {member, text}})}};
  };
  SaidList list;
  if (type == "text")
    add_said(Said::Kind::message, item.string_at("text"), list);
  else if (type == "thinking")
    add_said(Said::Kind::reasoning, item.string_at("thinking"), list);
  else if (type == "server_tool_use" && name == "web_search")
    return search("search", "query");
  else if (type == "server_tool_use" && name == "web_fetch")
    return search("open_page", "url");
  else
    return {};
  return list;
}

}  // namespace sortie
