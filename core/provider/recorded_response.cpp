#include "core/provider/recorded_response.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/provider/cassette.h"
#include "core/provider/exchange.h"

namespace sortie {

namespace {

Error unreadable(const RecordedResponse& recorded, const std::string& why) {
  return Error("the recorded response " + recorded.id + " can't be read: " + why,
               ExitCode::integrity);
}

Response read_stream(const std::string& stream, std::unique_ptr<WireDecoder> decoder,
                     const RecordedResponse& recorded) {
  const SystemClock clock;
  Exchange exchange(std::move(decoder), clock, {.stop_repetition = true});
  exchange.on_head({.status = 200, .headers = {{"Content-Type", "text/event-stream"}}});
  exchange.on_body(stream);
  exchange.finish();
  if (!exchange.is_complete()) throw unreadable(recorded, exchange.failure({}).message);
  return exchange.response();
}

Response read_response(const Wire& wire, const RecordedResponse& recorded,
                       const ModelSettings& settings) {
  if (!recorded.is_cut_repetition()) {
    const auto decoder = wire.decoder(settings);
    const auto state = decoder->read_recorded(recorded);
    if (state == WireDecoder::State::complete) return decoder->take();
    if (state == WireDecoder::State::failed) throw unreadable(recorded, decoder->failure().message);
  }
  return read_stream(response_stream(wire, recorded), wire.decoder(settings), recorded);
}

}  // namespace

Response recorded_response(std::string_view wire, const RecordedResponse& recorded,
                           const ModelSettings& settings, const WireOptions& options) {
  const auto format = make_wire(wire, options);
  if (!format)
    throw Error("a recorded response has the unknown wire format '" + std::string(wire) + "'",
                ExitCode::integrity);
  Response response = read_response(*format, recorded, settings);
  response.source = options.source;
  for (Item& item : response.items) item.source = options.source;
  return response;
}

}  // namespace sortie
