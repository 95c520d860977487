#include "core/provider/response_stream.h"

#include "core/model/repetition.h"

namespace sortie {

namespace {

/// What all wires take from the record.
struct Recorded {
  explicit Recorded(const Json& data)
      : id(data.string_at("response_id", data.string_at("id"))),
        model(data.string_at("served_model", data.string_at("model"))),
        output(data.find("output") ? data["output"] : data["items"]),
        usage(data["usage"]),
        reason(data.string_at("stop_reason", "completed")),
        repeated(data.string_at("repeated")),
        incomplete(data["incomplete"].boolean(reason != "completed")) {}
  std::string id;
  std::string model;
  const Json& output;
  const Json& usage;
  std::string reason;
  std::string repeated;
  bool incomplete;
};

void add_event(std::string_view name, const Json& data, std::string& to) {
  if (!name.empty()) to.append("event: ").append(name).append("\n");
  to += "data: ";
  write_json(data, to);
  to += "\n\n";
}

/// The one event that brings all items.
std::string responses_stream(const Recorded& recorded) {
  Json response = Json::object({{"id", recorded.id},
                                {"model", recorded.model},
                                {"output", recorded.output},
                                {"usage", recorded.usage}});
  if (recorded.incomplete)
    response.set("incomplete_details", Json::object({{"reason", recorded.reason}}));
  std::string text;
  add_event(
      "",
      Json::object({{"type", recorded.incomplete ? "response.incomplete" : "response.completed"},
                    {"response", std::move(response)}}),
      text);
  return text;
}

/// One chunk with the whole message for its delta.
std::string chat_stream(const Recorded& recorded) {
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
  add_event("",
            Json::object({{"id", recorded.id},
                          {"model", recorded.model},
                          {"choices", Json::array({std::move(choice)})},
                          {"usage", recorded.usage}}),
            text);
  return text + "data: [DONE]\n\n";
}

/// A content block as it begins, and the deltas that make it whole.
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
    const Json& input = block["input"];  // as text: what is no object
    deltas.push_back(
        Json::object({{"type", "input_json_delta"},
                      {"partial_json", input.is_string() ? input.text() : write_json(input)}}));
    begun.set("input", Json::object());
  }
  const auto add = [&](const char* name, const char* member, Json value) {
    Json event = Json::object({{"type", name}, {"index", index}});
    if (*member) event.set(member, std::move(value));
    add_event(name, event, to);
  };
  add("content_block_start", "content_block", std::move(begun));
  for (Json& delta : deltas.items()) add("content_block_delta", "delta", std::move(delta));
  add("content_block_stop", "", {});
}

std::string messages_stream(const Recorded& recorded) {
  std::string text;
  add_event("message_start",
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
  add_event("message_delta",
            Json::object({{"type", "message_delta"},
                          {"delta", Json::object({{"stop_reason", reason}})},
                          {"usage", recorded.usage}}),
            text);
  add_event("message_stop", Json::object({{"type", "message_stop"}}), text);
  return text;
}

/// The text that was kept, and its end again and again, so that whoever reads it has to cut it.
std::string circling_text(const Recorded& recorded) {
  std::string text = recorded.output.items().empty()
                         ? std::string()
                         : recorded.output.items().front().string_at("text");
  if (text.size() < recorded.repeated.size()) text = recorded.repeated;
  const std::string passage = text.substr(text.size() - recorded.repeated.size());
  // Looked at now and then, and in characters, which have four bytes at most.
  for (std::size_t bytes = 0; bytes < 4 * 2 * RepetitionGuard::kWindow; bytes += passage.size())
    text += passage;
  return text;
}

/// A stream of one piece of text that never ends.
std::string circling_stream(std::string_view wire, const Recorded& recorded) {
  const std::string text = circling_text(recorded);
  std::string stream;
  if (wire == "responses")
    add_event("response.output_text.delta",
              Json::object({{"type", "response.output_text.delta"}, {"delta", text}}), stream);
  else if (wire == "chat")
    add_event("",
              Json::object({{"choices",
                             Json::array({Json::object(
                                 {{"index", 0}, {"delta", Json::object({{"content", text}})}})})}}),
              stream);
  else
    add_block(0, Json::object({{"type", "text"}, {"text", text}}), stream);
  return stream;
}

}  // namespace

std::optional<std::string> response_stream(std::string_view wire, const Json& response) {
  const Recorded recorded(response);
  if (recorded.reason == "repetition" && !recorded.repeated.empty())
    return circling_stream(wire, recorded);
  if (wire == "responses") return responses_stream(recorded);
  if (wire == "chat") return chat_stream(recorded);
  if (wire == "messages") return messages_stream(recorded);
  return std::nullopt;
}

}  // namespace sortie
