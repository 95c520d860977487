#include "core/provider/recorded_response.h"

#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/provider/cassette.h"
#include "core/provider/exchange.h"

namespace sortie {

Response recorded_response(std::string_view wire, const Json& data, const ModelSettings& settings,
                           const WireOptions& options) {
  const auto format = make_wire(wire, options);
  const auto stream = response_stream(wire, data);
  if (!format || !stream)
    throw Error("a recorded response has the unknown wire format '" + std::string(wire) + "'",
                ExitCode::integrity);
  const SystemClock clock;
  Exchange exchange(format->decoder(settings), clock, {.stop_repetition = true});
  exchange.on_head({.status = 200, .headers = {{"Content-Type", "text/event-stream"}}});
  exchange.on_body(*stream);
  exchange.finish();
  if (!exchange.is_complete())
    throw Error("the recorded response " + data.string_at("id") +
                    " can't be read: " + exchange.failure({}).message,
                ExitCode::integrity);
  Response response = exchange.response();
  response.source = options.source;
  for (Item& item : response.items) item.source = options.source;
  return response;
}

}  // namespace sortie
