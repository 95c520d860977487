#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/json/json.h"
#include "core/model/responses/openai_responses.h"

// A complete response's items go back to the provider: each has to be one JSON text, and a call has
// to have its id and name. Its arguments may be anything: who runs it looks at them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sortie::OpenAiResponses wire;
  const auto decoder = wire.decoder({});
  auto state = sortie::WireDecoder::State::going_on;
  sortie::SseParser parser;
  parser.feed({reinterpret_cast<const char*>(data), size},
              [&](const sortie::SseEvent& event) { state = decoder->read(event); });
  if (state != sortie::WireDecoder::State::complete) return 0;
  const sortie::Response response = decoder->take();
  std::string encoded = "[";
  wire.item_writer({})->write(response.items, encoded);
  sortie::parse_json(encoded + "]");
  for (const auto& item : response.items) {
    const auto* call = std::get_if<sortie::ToolCall>(&item.content);
    if (call && (call->call_id.empty() || call->name.empty())) std::abort();
  }
  return 0;
}
