#include "core/model/chat/openai_chat.h"

#include <algorithm>

#include "core/catalog/model_family.h"
#include "core/model/chat/chat_decoder.h"
#include "core/model/chat/chat_messages.h"

namespace sortie {

namespace {

Json function_spec(const ToolSpec& tool) {
  Json parameters = tool.parameters;
  if (tool.form == ToolCall::Form::custom)
    parameters = free_text_parameters(tool);
  else if (!parameters.is_object())
    parameters = Json::object({{"type", "object"}, {"properties", Json::object()}});
  return Json::object({{"name", tool.name},
                       {"description", tool.description},
                       {"parameters", std::move(parameters)}});
}

/// @param tools  as they are declared; not empty
Json tool_choice_json(const ModelSettings& settings, bool legacy, const Json& tools) {
  std::string choice = settings.tool_choice.now();
  if (choice == "none" || (choice == "required" && !legacy)) return choice;
  const auto name_of_tool = [legacy](const Json& tool) {
    return legacy ? tool.string_at("name") : tool["function"].string_at("name");
  };
  // The older form can't ask for some call; with one function it is that one's.
  if (choice == "required" && tools.items().size() == 1)
    choice = name_of_tool(tools.items().front());
  const bool declared = std::any_of(tools.items().begin(), tools.items().end(),
                                    [&](const Json& tool) { return name_of_tool(tool) == choice; });
  if (!declared) return "auto";
  const Json function = Json::object({{"name", choice}});
  return legacy ? function : Json::object({{"type", "function"}, {"function", function}});
}

void add_tools(const ModelSettings& settings, bool legacy, Json& body) {
  Json tools = Json::array();
  for (const ToolSpec& tool : settings.tools) {
    if (tool.form == ToolCall::Form::web_search) continue;
    Json function = function_spec(tool);
    tools.push_back(legacy ? std::move(function)
                           : Json::object({{"type", "function"}, {"function", function}}));
  }
  if (tools.items().empty()) return;
  Json choice = tool_choice_json(settings, legacy, tools);
  body.set(legacy ? "functions" : "tools", std::move(tools));
  body.set(legacy ? "function_call" : "tool_choice", std::move(choice));
  // llama.cpp does not do it unless told; the o series refuses the member.
  if (!legacy && !is_openai_reasoning_model(settings.model)) body.set("parallel_tool_calls", true);
}

/// The families that know `reasoning_effort`. Others refuse it (Ollama, for models that don't
/// think), and the task's effort has a default, so that it is no sign that they do.
bool takes_effort(std::string_view model) {
  const auto slash = model.rfind('/');  // "openai/gpt-oss-120b", as hosts of many models name it
  if (slash != std::string_view::npos) model.remove_prefix(slash + 1);
  return is_openai_reasoning_model(model) || model.starts_with("gpt-oss");
}

}  // namespace

std::string OpenAiChat::encode_head(const ModelSettings& settings) const {
  Json body = Json::object({{"model", settings.model}});
  add_tools(settings, options_.legacy_functions, body);
  body.set("stream", true);
  const bool legacy = options_.legacy_functions;  // such servers may refuse what came later
  if (!legacy) body.set("stream_options", Json::object({{"include_usage", true}}));
  // OpenAI's reasoning models refuse `max_tokens`; other servers may know nothing else (the newer
  // name came late to vLLM, llama.cpp, Ollama), and OpenAI's older models take both.
  if (settings.max_output_tokens > 0)
    body.set(!legacy && is_openai_reasoning_model(settings.model) ? "max_completion_tokens"
                                                                  : "max_tokens",
             settings.max_output_tokens);
  if (!legacy && !settings.effort.empty() && takes_effort(settings.model))
    body.set("reasoning_effort", settings.effort);
  if (settings.temperature) body.set("temperature", *settings.temperature);
  if (const auto& answer = settings.output_schema; answer && !legacy)  // the prompt has it too
    body.set("response_format",
             Json::object({{"type", "json_schema"},
                           {"json_schema", Json::object({{"name", answer->name},
                                                         {"schema", answer->schema},
                                                         {"strict", answer->strict}})}}));
  std::string text = write_json(body);
  text.pop_back();  // `messages` is the last member, so that a longer history only appends
  text += ",\"messages\":[";
  if (!settings.instructions.empty())
    write_json(Json::object({{"role", "system"}, {"content", settings.instructions}}), text);
  return text;
}

std::unique_ptr<ItemWriter> OpenAiChat::item_writer(const ModelSettings& settings) const {
  return chat_item_writer(
      {.legacy = options_.legacy_functions, .after_system = !settings.instructions.empty()});
}

std::unique_ptr<WireDecoder> OpenAiChat::decoder(const ModelSettings& settings) const {
  return std::make_unique<ChatDecoder>(settings, [this] {
    const std::string model =
        options_.source == 0 ? "" : "model" + std::to_string(options_.source) + "_";
    return "call_" + model + std::to_string(++calls_);
  });
}

/// One chunk with the whole message for its delta.
std::string OpenAiChat::stream_of(const RecordedResponse& recorded) const {
  Json delta = recorded.output.items().empty() ? Json::object() : recorded.output.items().front();
  if (Json* calls = delta.find("tool_calls")) {
    std::int64_t index = 0;
    for (Json& call : calls->items()) call.set("index", index++);
  }
  const bool calls = delta.find("tool_calls") || delta.find("function_call");
  Json choice = Json::object({{"index", 0}, {"delta", Json()}, {"finish_reason", "stop"}});
  choice.set("delta", std::move(delta));
  if (calls) choice.set("finish_reason", "tool_calls");
  if (recorded.incomplete) choice.set("finish_reason", "length");
  std::string text;
  add_sse_event("",
                Json::object({{"id", recorded.id},
                              {"model", recorded.model},
                              {"choices", Json::array({std::move(choice)})},
                              {"usage", recorded.usage}}),
                text);
  return text + "data: [DONE]\n\n";
}

std::string OpenAiChat::stream_of_text(const std::string& text) const {
  const Json choice = Json::object({{"index", 0}, {"delta", Json::object({{"content", text}})}});
  std::string stream;
  add_sse_event("", Json::object({{"choices", Json::array({choice})}}), stream);
  return stream;
}

HttpHeaders OpenAiChat::headers(const std::string& run_id) const { return openai_headers(run_id); }

std::optional<SaidList> said_in_chat(const Json& item) {
  if (item.string_at("type", "message") != "message") return {};
  if (item.find("type") && !item.find("reasoning_content") && !item.find("reasoning")) return {};
  const std::string thought = item.string_at("reasoning_content");
  SaidList list;
  add_said(Said::Kind::reasoning, thought.empty() ? item.string_at("reasoning") : thought, list);
  add_said(Said::Kind::message, content_text(item["content"]), list);
  return list;
}

}  // namespace sortie
