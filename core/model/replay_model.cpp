#include "core/model/replay_model.h"

#include <utility>

#include "core/net/sse.h"

namespace sortie {

ReplayModel::ReplayModel(std::vector<RecordedStream> recording, const WireOptions& options)
    : streams_(std::move(recording)), options_(options) {}

const Wire& ReplayModel::wire_of(const RecordedStream& stream) {
  auto& wire = wires_[stream.wire];
  if (!wire) wire = make_wire(stream.wire, options_);
  if (!wire)
    throw ModelError("the cassette's response " + std::to_string(next_ + 1) +
                         " is of the wire format '" + stream.wire + "', which is not known",
                     ExitCode::refused, "cassette");
  return *wire;
}

Response ReplayModel::ask(const Request& request, StreamSink& stream,
                          std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
  if (stop.stop_requested()) throw Stopped();
  if (std::chrono::steady_clock::now() >= deadline)
    throw ModelError("the time budget was used up", ExitCode::budget, "time");
  const bool over = next_ == streams_.size();
  // A request that nothing answers is on record all the same.
  const Wire& wire = !over ? wire_of(streams_[next_]) : wire_ ? *wire_ : wire_of({});
  if (&wire != wire_) body_.emplace(wire);
  wire_ = &wire;
  RequestRecord record = body_->update(request);
  record.provider = "replay";
  stream.on_request(record, 1);
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
  const auto decoder = wire.decoder(request.settings);
  auto state = WireDecoder::State::going_on;
  try {
    SseParser parser;
    parser.feed(recorded.sse, [&](const SseEvent& event) { state = decoder->read(event); });
    if (state == WireDecoder::State::going_on) state = decoder->finish();
  } catch (const SseError& error) {
    throw ModelError("the cassette's response " + number + ": " + error.what(), ExitCode::refused,
                     "cassette");
  }
  stream.on_progress(recorded.sse.size());
  if (state == WireDecoder::State::failed) {
    const ModelFailure& failure = decoder->failure();
    throw ModelError(failure.message, failure.code, failure.kind, failure.retry_after);
  }
  if (state != WireDecoder::State::complete)
    throw ModelError("the cassette's response " + number + " has no terminal event",
                     ExitCode::refused, "cassette");
  return decoder->take();
}

}  // namespace sortie
