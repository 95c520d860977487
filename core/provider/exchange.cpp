#include "core/provider/exchange.h"

#include <algorithm>
#include <cctype>

#include "core/base/clock.h"
#include "core/text/text.h"

namespace sortie {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxErrorBytes = 64u << 10;
constexpr std::size_t kShownBytes = 200;
/// Stream bytes per byte of text, in the smallest pieces that servers send.
constexpr std::uint64_t kStreamBytesPerByte = 50;

bool is_event_stream(const HttpHead& head) {
  return ascii_lower(header_value(head.headers, "Content-Type")).starts_with("text/event-stream");
}

/// A reply that is not a stream, for people.
std::string described(const HttpHead& head, std::string_view body) {
  const auto type = header_value(head.headers, "Content-Type");
  const std::string begin = one_line_of_words(body, kShownBytes);
  return "the server answered with " +
         (type.empty() ? "no content type" : "content type '" + one_line_of_words(type, 80) + "'") +
         " instead of an event stream" + (begin.empty() ? "" : ": " + begin);
}

}  // namespace

Exchange::Exchange(std::unique_ptr<WireDecoder> decoder, const Clock& clock, Options options)
    : decoder_(std::move(decoder)), clock_(clock), options_(options), begin_(clock.steady()) {
  decoder_->on_text([this](WireDecoder::Text kind, std::string_view text) { on_text(kind, text); });
}

void Exchange::on_head(const HttpHead& head) {
  head_ = head;
  is_stream_ = head.status == 200 && is_event_stream(head);
}

HttpSink::Wants Exchange::on_body(std::string_view bytes) {
  received_ += bytes.size();
  if (!is_stream_) {
    text_ += bytes.substr(0, kMaxErrorBytes - text_.size());
    return text_.size() < kMaxErrorBytes ? Wants::more : Wants::enough;
  }
  if (received_ > options_.max_stream_bytes) {
    too_long_ =
        "the stream is longer than " + std::to_string(options_.max_stream_bytes >> 20) + " MiB";
    return Wants::enough;
  }
  if (options_.keep_stream) text_ += bytes;
  try {
    parser_.feed(bytes, [this](const SseEvent& event) { read(event); });
  } catch (const SseError& error) {
    too_long_ = error.what();
    return Wants::enough;
  }
  const bool going_on = state_ == WireDecoder::State::going_on && !is_stopped();
  return going_on ? Wants::more : Wants::enough;
}

void Exchange::read(const SseEvent& event) {
  if (events_++ == 0) first_event_ = clock_.steady();
  state_ = decoder_->read(event);
}

void Exchange::on_text(WireDecoder::Text kind, std::string_view text) {
  if (options_.stop_repetition) repetition_[static_cast<std::size_t>(kind)].feed(text);
  text_bytes_ += text.size();
}

void Exchange::finish() {
  if (is_stream_ && state_ == WireDecoder::State::going_on) state_ = decoder_->finish();
}

bool Exchange::is_complete() const {
  return state_ == WireDecoder::State::complete || is_stopped();
}

/// The passage that its message, or its reasoning, repeats.
const std::string& Exchange::passage() const {
  for (const auto& guard : repetition_)
    if (!guard.passage().empty()) return guard.passage();
  return repetition_[0].passage();
}

/// Whether it is stopped for repetition.
bool Exchange::is_stopped() const {
  return state_ == WireDecoder::State::going_on && !options_.may_repeat && !passage().empty();
}

Response Exchange::response() {
  Response response = state_ == WireDecoder::State::complete ? decoder_->take() : cut_response();
  response.first_event = to_ms(first_event_ - begin_);
  response.duration = to_ms(clock_.steady() - begin_);
  // A repetition in a response that ended by itself is intended.
  if (response.incomplete) response.repeated = passage();
  return response;
}

/// The message with the passage once, so that the model does not continue to repeat it.
Response Exchange::cut_response() {
  Response response;
  response.stop_reason = kRepetition;
  response.repeated = passage();
  response.cut_bytes = text_bytes_;
  const std::size_t step = response.repeated.size();
  std::string text = decoder_->message_so_far();
  while (text.size() >= 2 * step &&
         text.compare(text.size() - step, step, text, text.size() - 2 * step, step) == 0)
    text.resize(text.size() - step);
  if (!text.empty())
    response.items.push_back({Message{Message::Role::assistant, repair_utf8(text)}});
  return response;
}

ModelFailure Exchange::failure(const HttpResult& result) const {
  ModelFailure failure = cause(result);
  if (is_stream_ && events_ > 0 && state_ != WireDecoder::State::failed)
    failure.lost_bytes = std::max(text_bytes_, received_ / kStreamBytesPerByte);
  return failure;
}

ModelFailure Exchange::cause(const HttpResult& result) const {
  if (state_ == WireDecoder::State::failed) return decoder_->failure();
  if (!too_long_.empty()) return cut(too_long_);
  if (head_.status != 0 && head_.status != 200)
    return failure_of_status(head_, text_, clock_.now());
  if (result.ending != HttpResult::Ending::complete) return failure_of_ending(result, head_.status);
  if (!is_stream_) return cut(described(head_, text_));
  return cut(events_ == 0 ? "the stream was empty" : "the stream ended before the response did");
}

ModelFailure Exchange::cut(const std::string& message) const {
  ModelFailure failure;
  failure.status = head_.status;
  failure.message = message;
  return failure;
}

}  // namespace sortie
