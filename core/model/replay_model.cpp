#include "core/model/replay_model.h"

#include <utility>

#include "core/net/sse.h"

namespace sortie {

ReplayModel::ReplayModel(const Wire& wire, std::vector<RecordedStream> recording)
    : wire_(wire), streams_(std::move(recording)), body_(wire) {}

Response ReplayModel::ask(const Request& request, StreamSink& stream,
                          std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
  if (stop.stop_requested()) throw Stopped();
  if (std::chrono::steady_clock::now() >= deadline)
    throw ModelError("the time budget was used up", ExitCode::budget, "time");
  RequestRecord record = body_.update(request);
  record.provider = "replay";
  stream.on_request(record, 1);
  const std::string number = std::to_string(next_ + 1);
  if (next_ == streams_.size())
    throw ModelError("the cassette has no response for request " + number, ExitCode::refused,
                     "cassette");
  const RecordedStream& recorded = streams_[next_++];
  if (recorded.wire != wire_.name())
    throw ModelError("the cassette's response " + number + " is of the wire format '" +
                         recorded.wire + "', not '" + std::string(wire_.name()) + "'",
                     ExitCode::refused, "cassette");
  if (recorded.status != 200) {
    const auto failure = failure_of_status({recorded.status, recorded.headers}, recorded.sse,
                                           std::chrono::system_clock::now());
    throw ModelError(failure.message, failure.code, failure.kind, failure.retry_after);
  }
  const auto decoder = wire_.decoder(request.settings);
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
