#include "core/model/responses/responses_input.h"

#include <utility>

#include "core/catalog/openai_models.h"
#include "core/model/tool_calls.h"

namespace sortie {

namespace {

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

/// An item that goes out in our words.
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

}  // namespace

std::unique_ptr<ItemWriter> responses_item_writer(bool free_text_tools) {
  return std::make_unique<ResponsesInput>(free_text_tools);
}

}  // namespace sortie
