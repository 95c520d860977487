#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/json/json.h"
#include "core/model/chat/openai_chat.h"

// A complete response's items go back to the provider: the body has to be one JSON text, whatever a
// call's arguments are, and a call has to have its id and name. A quick reading of chunks may not
// differ from the thorough one: both are behind the decoder.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sortie::OpenAiChat wire({.legacy_functions = size % 2 == 0});
  sortie::ModelSettings settings{.model = "m", .instructions = "i"};
  settings.tools = {{.name = "apply_patch", .form = sortie::ToolCall::Form::custom}};
  const auto decoder = wire.decoder(settings);
  auto state = sortie::WireDecoder::State::going_on;
  sortie::SseParser parser;
  parser.feed({reinterpret_cast<const char*>(data), size},
              [&](const sortie::SseEvent& event) { state = decoder->read(event); });
  if (state == sortie::WireDecoder::State::going_on) state = decoder->finish();
  if (state != sortie::WireDecoder::State::complete) return 0;
  const sortie::Response response = decoder->take();
  for (const auto& output : response.output) sortie::parse_json(output);
  std::string body = wire.encode_head(settings);
  const auto writer = wire.item_writer(settings);
  writer->write(response.items, body);
  body += writer->tail();
  sortie::parse_json(body);
  for (const auto& item : response.items) {
    const auto* call = std::get_if<sortie::ToolCall>(&item.content);
    if (call && (call->call_id.empty() || call->name.empty())) std::abort();
  }
  return 0;
}
