#include "core/agent/earlier_work.h"

#include <unordered_map>
#include <utility>

#include "core/base/spelling.h"
#include "core/model/wire.h"
#include "core/record/events.h"

namespace sortie {
namespace {

std::vector<Image> images_of(const Json& item) {
  std::vector<Image> images;
  for (const Json& image : item["images"].items())
    images.push_back({.media_type = image.string_at("media_type"),
                      .base64 = image.string_at("base64"),
                      .width = static_cast<int>(image.integer_at("width")),
                      .height = static_cast<int>(image.integer_at("height"))});
  return images;
}

/// An item in the neutral form, which to_json(Item) gives those that came from no provider.
Item item_of(const Json& json) {
  const std::string type = json.string_at("type");
  const auto form =
      value_named<ToolCall::Form>(json.string_at("form")).value_or(ToolCall::Form::function);
  if (type == "tool_output")
    return {ToolOutput{.call_id = json.string_at("call_id"),
                       .text = json.string_at("text"),
                       .success = json["success"].boolean(true),
                       .form = form,
                       .images = images_of(json)}};
  if (type == "tool_call")
    return {ToolCall{json.string_at("call_id"), json.string_at("name"), json.string_at("arguments"),
                     form}};
  if (type == "reasoning") return {Reasoning{json.string_at("summary")}};
  if (type == "message")
    return {Message{
        json.string_at("role") == "assistant" ? Message::Role::assistant : Message::Role::user,
        json.find("text") ? json.string_at("text") : content_text(json["content"]),
        images_of(json)}};
  return {ProviderItem{type, json.string_at("summary")}};
}

/// As write_json(to_json(item)). What was received was written by write_json().
std::string json_text(const Item& item) {
  return item.received.empty() ? write_json(to_json(item)) : item.received;
}

}  // namespace

std::vector<Item> restored_items(const std::vector<const Json*>& sent,
                                 const std::vector<Response>& responses) {
  std::unordered_map<std::string, const Item*> known;
  for (const Response& response : responses)
    for (const Item& item : response.items) known[json_text(item)] = &item;
  std::vector<Item> items;
  items.reserve(sent.size());
  for (const Json* const json : sent) {
    const auto found = known.find(write_json(*json));
    items.push_back(found == known.end() ? item_of(*json) : *found->second);
  }
  return items;
}

std::string interrupted_text(const ToolCall& call, const std::string& effects) {
  std::string text =
      "Interrupted: the run was stopped from outside while this call of " + call.name +
      " was under way. It was not run again, and what it had started is ended. It may have been "
      "done wholly, in part, or not at all";
  text += effects.empty() ? "." : ": " + effects + ".";
  return text + " Look at the state of things before you repeat it.";
}

}  // namespace sortie
