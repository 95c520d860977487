#include "core/model/responses/openai_responses.h"

#include "core/catalog/openai_models.h"
#include "core/model/responses/responses_decoder.h"
#include "core/model/responses/responses_input.h"
#include "core/model/tool_calls.h"

namespace sortie {

namespace {

/// Whether the model takes the `reasoning` member. For a name that is not known, the task's word
/// that it wants an effort is enough.
bool reasons(std::string_view model, std::string_view effort) {
  if (is_openai_plain_model(model)) return false;
  return is_openai_reasoning_model(model) || !effort.empty();
}

Json tool_json(const ToolSpec& tool, const ModelSettings& settings) {
  // To the models that take over from one that knows it, it is a function as others are.
  if (tool.form == ToolCall::Form::local_shell && knows_local_shell(settings.model))
    return Json::object({{"type", "local_shell"}});
  if (tool.form == ToolCall::Form::web_search) return Json::object({{"type", "web_search"}});
  const bool custom = tool.form == ToolCall::Form::custom;
  if (custom && settings.free_text_tools) {
    Json format =
        tool.grammar.empty()
            ? Json::object({{"type", "text"}})
            : Json::object({{"type", "grammar"}, {"syntax", "lark"}, {"definition", tool.grammar}});
    return Json::object({{"type", "custom"},
                         {"name", tool.name},
                         {"description", tool.description},
                         {"format", std::move(format)}});
  }
  Json parameters = custom ? free_text_parameters(tool) : tool.parameters;
  if (!parameters.is_object())
    parameters = Json::object({{"type", "object"}, {"properties", Json::object()}});
  return Json::object({{"type", "function"},
                       {"name", tool.name},
                       {"description", tool.description},
                       {"parameters", std::move(parameters)},
                       {"strict", false}});
}

}  // namespace

std::string OpenAiResponses::encode_head(const ModelSettings& settings) const {
  Json body = Json::object({{"model", settings.model}, {"instructions", settings.instructions}});
  if (!settings.tools.empty()) {
    Json tools = Json::array();
    for (const ToolSpec& tool : settings.tools) tools.push_back(tool_json(tool, settings));
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
  if (const auto& answer = settings.output_schema)
    body.set("text", Json::object({{"format", Json::object({{"type", "json_schema"},
                                                            {"name", answer->name},
                                                            {"schema", answer->schema},
                                                            {"strict", answer->strict}})}}));
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

std::unique_ptr<ItemWriter> OpenAiResponses::item_writer(const ModelSettings& settings) const {
  return responses_item_writer(settings.free_text_tools);
}

std::unique_ptr<WireDecoder> OpenAiResponses::decoder(const ModelSettings& settings) const {
  return std::make_unique<ResponsesDecoder>(
      settings.free_text_tools ? std::set<std::string>() : free_text_functions(settings));
}

}  // namespace sortie
