#include "core/model/responses/openai_responses.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/catalog/model_family.h"
#include "core/model/responses/responses_decoder.h"
#include "core/model/tool_calls.h"

namespace sortie {
namespace {

/// Writes items as the `input` of a Responses request.
///
/// Items of this provider are sent back in their own bytes; reasoning and provider items only so. A
/// local_shell call of another model becomes a function call. Images become data URLs; an output
/// with images is a list of parts.
/// @param free_text_tools  the model accepts them: calls and outputs stay free text
std::unique_ptr<ItemWriter> responses_item_writer(bool free_text_tools);

using Form = ToolCall::Form;

bool is_sent(const Item& item) {
  return !item.received.empty() || !(std::holds_alternative<Reasoning>(item.content) ||
                                     std::holds_alternative<ProviderItem>(item.content));
}

Json content_parts(const std::string& text, const std::vector<Image>& images) {
  Json parts = Json::array();
  if (!text.empty() || images.empty())
    parts.push_back(Json::object({{"type", "input_text"}, {"text", text}}));
  for (const Image& image : images)
    parts.push_back(Json::object(
        {{"type", "input_image"}, {"image_url", data_url(image)}, {"detail", "auto"}}));
  return parts;
}

/// Whether the call before `at` with this id came as the provider's own item.
bool was_received(const std::vector<Item>& items, std::size_t at, const std::string& call_id) {
  while (at-- > 0) {
    const auto* call = std::get_if<ToolCall>(&items[at].content);
    if (call && call->call_id == call_id) return !items[at].received.empty();
  }
  return false;
}

/// Encodes an item that this provider did not send.
struct Encoder {
  const std::vector<Item>& items;
  std::size_t at;
  bool free_text_tools;

  Json operator()(const Message& message) const {
    if (message.role == Message::Role::assistant)  // short: an output needs an id of the provider's
      return Json::object({{"type", "message"}, {"role", "assistant"}, {"content", message.text}});
    return Json::object({{"type", "message"},
                         {"role", "user"},
                         {"content", content_parts(message.text, message.images)}});
  }
  Json operator()(const ToolCall& call) const {
    const bool custom = call.form == Form::custom;
    if (custom && free_text_tools)
      return Json::object({{"type", "custom_tool_call"},
                           {"call_id", call.call_id},
                           {"name", call.name},
                           {"input", call.arguments}});
    return Json::object({{"type", "function_call"},
                         {"call_id", call.call_id},
                         {"name", call.name},
                         {"arguments", object_arguments(call)}});
  }
  Json operator()(const ToolOutput& output) const {
    if (output.form == Form::local_shell && was_received(items, at, output.call_id))
      return Json::object({{"type", "local_shell_call_output"},
                           {"id", output.call_id},  // by the schema; the servers want call_id
                           {"call_id", output.call_id},
                           {"output", output.text}});
    const bool custom = output.form == Form::custom && free_text_tools;
    return Json::object(
        {{"type", custom ? "custom_tool_call_output" : "function_call_output"},
         {"call_id", output.call_id},
         {"output",
          output.images.empty() ? Json(output.text) : content_parts(output.text, output.images)}});
  }
  Json operator()(const Reasoning&) const { return {}; }
  Json operator()(const ProviderItem&) const { return {}; }
};

class ResponsesInput : public ItemWriter {
 public:
  explicit ResponsesInput(bool free_text_tools) : free_text_tools_(free_text_tools) {}

  void write(const std::vector<Item>& items, std::string& to) override {
    for (; written_ < items.size(); ++written_) {
      const Item& item = items[written_];
      if (!is_sent(item)) continue;
      if (std::exchange(begun_, true)) to += ',';
      if (!item.received.empty())
        to += item.received;
      else
        write_json(std::visit(Encoder{items, written_, free_text_tools_}, item.content), to);
    }
  }
  std::string_view tail() const override { return "]}"; }

 private:
  bool free_text_tools_;
  std::size_t written_ = 0;
  bool begun_ = false;
};

std::unique_ptr<ItemWriter> responses_item_writer(bool free_text_tools) {
  return std::make_unique<ResponsesInput>(free_text_tools);
}

/// Whether the model accepts the `reasoning` member. An unknown model gets it if the task sets an
/// effort.
bool reasons(std::string_view model, std::string_view effort) {
  if (is_openai_plain_model(model)) return false;
  return is_openai_reasoning_model(model) || !effort.empty();
}

Json tool_json(const ToolSpec& tool, const ModelSettings& settings) {
  // For other models, such as fallbacks, it is an ordinary function.
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

/// A tool that the provider runs, or that has a type of its own, can only be named in a list.
Json tool_choice_json(const ModelSettings& settings) {
  const std::string choice = settings.tool_choice.now();
  const auto tool = std::find_if(settings.tools.begin(), settings.tools.end(),
                                 [&](const ToolSpec& one) { return one.name == choice; });
  if (choice == "none" || choice == "required") return choice;
  if (tool == settings.tools.end()) return "auto";
  const Json declared = tool_json(*tool, settings);
  const std::string type = declared.string_at("type");
  if (type == "function" || type == "custom")
    return Json::object({{"type", type}, {"name", tool->name}});
  return Json::object(
      {{"type", "allowed_tools"}, {"mode", "required"}, {"tools", Json::array({declared})}});
}

}  // namespace

std::string OpenAiResponses::encode_head(const ModelSettings& settings) const {
  Json body = Json::object({{"model", settings.model}, {"instructions", settings.instructions}});
  if (!settings.tools.empty()) {
    Json tools = Json::array();
    for (const ToolSpec& tool : settings.tools) tools.push_back(tool_json(tool, settings));
    body.set("tools", std::move(tools));
    body.set("tool_choice", tool_choice_json(settings));
    body.set("parallel_tool_calls", true);
  }
  if (reasons(settings.model, settings.effort)) {
    Json reasoning;
    if (!settings.effort.empty()) reasoning.set("effort", settings.effort);
    if (settings.reasoning_summary != "none") reasoning.set("summary", settings.reasoning_summary);
    if (!reasoning.is_null()) body.set("reasoning", std::move(reasoning));
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

/// One event with all items.
std::string OpenAiResponses::stream_of(const RecordedResponse& recorded) const {
  std::string text;
  add_sse_event(
      "",
      Json::object({{"type", recorded.incomplete ? "response.incomplete" : "response.completed"},
                    {"response", response_json(recorded)}}),
      text);
  return text;
}

std::string OpenAiResponses::stream_of_text(const std::string& text) const {
  std::string stream;
  add_sse_event("response.output_text.delta",
                Json::object({{"type", "response.output_text.delta"}, {"delta", text}}), stream);
  return stream;
}

HttpHeaders OpenAiResponses::headers(const std::string& run_id) const {
  return openai_headers(run_id);
}

namespace {

std::string summary_text(const Json& summary) {
  std::string text;
  for (const Json& part : summary.items())
    text += (text.empty() ? "" : "\n\n") + part.string_at("text");
  return text;
}

Said web_search_said(const Json& item) {
  const Json& action = item["action"];
  std::string query = action.string_at("query");
  for (const Json& one : action["queries"].items())
    if (query.empty()) query = one.text();
  if (query.empty()) query = action.string_at("url");
  if (query.empty()) query = action.string_at("pattern");
  if (query.empty()) query = item.string_at("summary");
  return {Said::Kind::web_search, query,
          action.is_object() ? action : Json::object({{"type", "search"}, {"query", query}})};
}

}  // namespace

std::optional<SaidList> said_in_responses(const Json& item) {
  const std::string type = item.string_at("type");
  SaidList list;
  if (type == "message")
    add_said(Said::Kind::message, content_text(item["content"]), list);
  else if (type == "reasoning")
    add_said(Said::Kind::reasoning, summary_text(item["summary"]), list);
  else if (type == "web_search_call")
    list.push_back(web_search_said(item));
  else
    return {};
  return list;
}

}  // namespace sortie
