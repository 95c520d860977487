#include "core/record/events.h"

#include <algorithm>

namespace sortie {
namespace {

const char* role_of(Message::Role role) {
  return role == Message::Role::user ? "user" : "assistant";
}

Json images_json(const std::vector<Image>& images) {
  Json list = Json::array();
  for (const Image& image : images)
    list.push_back(Json::object({{"media_type", image.media_type},
                                 {"base64", image.base64},
                                 {"width", image.width},
                                 {"height", image.height}}));
  return list;
}

Json neutral(const Message& message) {
  Json json =
      Json::object({{"type", "message"}, {"role", role_of(message.role)}, {"text", message.text}});
  if (!message.images.empty()) json.set("images", images_json(message.images));
  return json;
}
Json neutral(const ProviderItem& item) {
  return Json::object({{"type", item.type}, {"summary", item.summary}});
}
Json neutral(const Reasoning& reasoning) {
  return Json::object({{"type", "reasoning"}, {"summary", reasoning.summary}});
}
Json neutral(const ToolCall& call) {
  return Json::object({{"type", "tool_call"},
                       {"call_id", call.call_id},
                       {"name", call.name},
                       {"arguments", call.arguments},
                       {"form", name_of(call.form)}});
}
Json neutral(const ToolOutput& output) {
  Json json = Json::object({{"type", "tool_output"},
                            {"call_id", output.call_id},
                            {"text", output.text},
                            {"success", output.success},
                            {"form", name_of(output.form)}});
  if (!output.images.empty()) json.set("images", images_json(output.images));
  return json;
}

Json received_json(const std::vector<std::string>& items) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(parse_json(item));
  return array;
}

}  // namespace

RunEvent model_request_event(int turn, const RequestRecord& request, int attempt,
                             const std::vector<Item>& items) {
  ModelRequested event{.provider = request.provider,
                       .wire = request.wire,
                       .attempt = attempt,
                       .bytes = request.bytes,
                       .sha256 = request.body_sha256,
                       .prefix_bytes = request.prefix_bytes,
                       .first_new_item = request.first_new_item};
  if (attempt == 1)
    for (std::size_t i = request.first_new_item; i < items.size(); ++i)
      event.items.push_back(to_json(items[i]));
  return {turn, std::move(event)};
}

RunEvent model_response_event(int turn, const Response& response, const AnswerNotes& notes) {
  ModelAnswered event{.id = response.id,
                      .served_model = response.served_model,
                      .usage = response.raw_usage,
                      .tokens = response.usage,
                      .cost = notes.cost,
                      .incomplete = response.incomplete,
                      .stop_reason = response.stop_reason,
                      .first_event = response.first_event,
                      .duration = response.duration,
                      .model = notes.model,
                      .source = response.source,
                      .tokens_estimated = notes.estimated,
                      .repeated = response.repeated,
                      .aside = notes.aside,
                      .rate_limits = response.rate_limits};
  // A wire without JSON for single items has one JSON text for all of them.
  const bool apart = response.output.empty() || response.items.empty() ||
                     std::any_of(response.items.begin(), response.items.end(),
                                 [](const Item& item) { return !item.received.empty(); });
  if (!apart) event.items = received_json(response.output);
  if (apart)
    for (const Item& item : response.items) event.items.push_back(to_json(item));
  if (apart && !response.findings.empty() && !response.output.empty())
    event.output = received_json(response.output);
  return {turn, std::move(event)};
}

std::string McpServerRecord::problem() const {
  const std::string name = "The MCP server " + server;
  const std::string why = detail.empty() ? "." : ": " + detail;
  if (state == ServerState::failed) return name + " can't be used" + why;
  if (state == ServerState::died) return name + " was lost" + why;
  if (state == ServerState::restarted) return name + " was started again.";
  return {};
}

Json to_json(const Item& item) {
  if (!item.received.empty()) {
    try {
      return parse_json(item.received);
    } catch (const JsonError&) {
      // Not JSON after all: the neutral form is recorded.
    }
  }
  return std::visit([](const auto& content) { return neutral(content); }, item.content);
}

}  // namespace sortie
