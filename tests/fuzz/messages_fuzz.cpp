#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/json/json.h"
#include "core/model/messages/anthropic_messages.h"
#include "core/model/messages/messages_delta.h"

namespace {

/// What is read without a tree has to be what the tree has.
void check_delta(const sortie::SseEvent& event) {
  const auto delta = sortie::read_messages_delta(event.data);
  if (!delta) return;
  sortie::Json whole;
  try {
    whole = sortie::parse_json(event.data);
  } catch (const sortie::JsonError&) {
    return;  // found once the pieces are put together
  }
  if (whole["index"].integer() != delta->index) std::abort();
  const sortie::Json& inner = whole["delta"];
  if (inner.string_at("type") != delta->type || inner.members().size() != 2) std::abort();
  if (sortie::parse_json("\"" + std::string(delta->escaped) + "\"") != inner.members()[1].second)
    std::abort();
}

}  // namespace

// A complete response goes back to the provider: with what is around it that has to be one JSON
// text, whatever came, and a call has to have its id and name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sortie::AnthropicMessages wire;
  const sortie::ModelSettings settings{
      .model = "claude-sonnet-4-5",
      .tools = {{.name = "apply_patch", .form = sortie::ToolCall::Form::custom}}};
  const auto decoder = wire.decoder(settings);
  auto state = sortie::WireDecoder::State::going_on;
  sortie::SseParser parser;
  parser.feed({reinterpret_cast<const char*>(data), size}, [&](const sortie::SseEvent& event) {
    check_delta(event);
    state = decoder->read(event);
  });
  if (state != sortie::WireDecoder::State::complete) return 0;
  const sortie::Response response = decoder->take();
  std::vector<sortie::Item> items = {{sortie::Message{sortie::Message::Role::user, "go"}}};
  for (const auto& item : response.items) {
    items.push_back(item);
    if (!item.received.empty()) sortie::parse_json(item.received);
    const auto* call = std::get_if<sortie::ToolCall>(&item.content);
    if (call && (call->call_id.empty() || call->name.empty())) std::abort();
  }
  std::string encoded = wire.encode_head(settings);
  const auto writer = wire.item_writer(settings);
  writer->write(items, encoded);
  sortie::parse_json(encoded.append(writer->tail()));
  for (const auto& block : response.output) sortie::parse_json(block);
  return 0;
}
