#include "core/provider/replay_model.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/provider/exchange.h"

namespace sortie {

ReplayModel::ReplayModel(std::vector<RecordedStream> recording, const WireOptions& options)
    : streams_(std::move(recording)), options_(options) {
  mixed_ = std::any_of(streams_.begin(), streams_.end(),
                       [](const RecordedStream& each) { return each.source != 0; });
}

const Wire& ReplayModel::wire_of(const RecordedStream& stream) {
  auto& wire = wires_[stream.wire];
  if (!wire) wire = make_wire(stream.wire, options_);
  if (!wire)
    throw ModelError("the cassette's response " + std::to_string(next_ + 1) +
                         " has the unknown wire format '" + stream.wire + "'",
                     ExitCode::refused, "cassette");
  return *wire;
}

/// Items of other models are converted as in the recorded run.
RequestRecord ReplayModel::encode(const Request& request, const Wire& wire, int source) {
  if (&wire != wire_ || source != source_) {
    body_.emplace(wire);
    portable_ = PortableItems(source);
  }
  wire_ = &wire;
  source_ = source;
  const auto& items = mixed_ ? portable_.update(request.items, request.epoch) : request.items;
  RequestRecord record = body_->update({request.settings, items, request.epoch});
  if (mixed_) record.first_new_item = portable_.origin(record.first_new_item);
  record.provider = "replay";
  return record;
}

Response ReplayModel::ask(const Request& request, StreamSink& stream,
                          std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
  if (stop.stop_requested()) throw Stopped();
  if (std::chrono::steady_clock::now() >= deadline)
    throw ModelError("the time budget ran out", ExitCode::budget, "time");
  const bool over = next_ == streams_.size();
  // A request without a response is recorded too.
  const Wire& wire = !over ? wire_of(streams_[next_]) : wire_ ? *wire_ : wire_of({});
  stream.on_request(encode(request, wire, over ? source_ : streams_[next_].source), 1);
  const std::string number = std::to_string(next_ + 1);
  if (over)
    throw ModelError("the cassette has no response for request " + number, ExitCode::refused,
                     "cassette");
  const RecordedStream& recorded = streams_[next_++];
  if (recorded.status != 200) {
    const auto failure = failure_of_status({recorded.status, recorded.headers}, recorded.sse,
                                           std::chrono::system_clock::now());
    throw ModelError(failure.message, failure.code, failure.kind, failure.retry_after);
  }
  const SystemClock clock;
  Exchange exchange(wire.decoder(request.settings), clock,
                    {.stop_repetition = true, .may_repeat = request.may_repeat});
  exchange.on_head({.status = 200, .headers = {{"Content-Type", "text/event-stream"}}});
  exchange.on_body(recorded.sse);
  exchange.finish();
  if (!exchange.is_complete()) {
    const ModelFailure failure = exchange.failure({});
    if (exchange.was_refused())
      throw ModelError(failure.message, failure.code, failure.kind, failure.retry_after);
    throw ModelError(
        "the cassette's response " + number + " has no terminal event (" + failure.message + ")",
        ExitCode::refused, "cassette");
  }
  Response response = exchange.response();
  response.first_event = response.duration = std::chrono::milliseconds(0);
  response.source = recorded.source;
  for (Item& item : response.items) item.source = recorded.source;
  return response;
}

}  // namespace sortie
