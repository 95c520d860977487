#include "core/provider/exchange.h"

#include <algorithm>
#include <cctype>
#include <utility>

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

/// What the provider says of its limits: the headers with such names, as they are.
Json rate_limits(const HttpHeaders& headers) {
  constexpr std::size_t kMostHeaders = 24;
  constexpr std::size_t kMostBytes = 100;
  Json limits;
  for (const auto& [name, value] : headers) {
    const std::string lower = ascii_lower(name);
    if (lower.find("ratelimit") == std::string::npos || limits.members().size() == kMostHeaders)
      continue;
    limits.set(one_line_of_words(lower, kMostBytes), one_line_of_words(value, kMostBytes));
  }
  return limits;
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
  says_stream_ = head.status == 200 && is_event_stream(head);
  if (head.status != 200) body_ = Body::other;
}

/// By its first bytes: servers that do not stream send JSON, and some name another content type.
/// @param begin  of the body; too little of it is `unknown`
Exchange::Body Exchange::kind_of(std::string_view begin) const {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  constexpr std::string_view kFields[] = {"data:", "event:", "id:", "retry:", ":"};
  if (kMark.starts_with(begin)) return Body::unknown;
  if (begin.starts_with(kMark)) begin.remove_prefix(kMark.size());
  begin.remove_prefix(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
  if (begin.empty()) return Body::unknown;
  if (begin.front() == '{') return Body::whole;
  if (says_stream_) return Body::stream;
  bool may_follow = false;
  for (const std::string_view field : kFields) {
    if (begin.starts_with(field)) return Body::stream;
    may_follow = may_follow || field.starts_with(begin);
  }
  return may_follow ? Body::unknown : Body::other;
}

HttpSink::Wants Exchange::on_body(std::string_view bytes) {
  received_ += bytes.size();
  std::string begin;
  if (body_ == Body::unknown) {
    begin_of_body_ += bytes.substr(0, kMaxErrorBytes);
    body_ = kind_of(begin_of_body_);
    if (body_ == Body::unknown)
      return begin_of_body_.size() < kMaxErrorBytes ? Wants::more : Wants::enough;
    begin = std::exchange(begin_of_body_, {})
                .append(bytes.substr(std::min(bytes.size(), kMaxErrorBytes)));
    bytes = begin;
  }
  if (body_ == Body::stream) return on_stream(bytes);
  return collect(bytes, body_ == Body::whole ? WireDecoder::kMaxResponseBytes : kMaxErrorBytes);
}

HttpSink::Wants Exchange::collect(std::string_view bytes, std::size_t most) {
  text_ += bytes.substr(0, most - text_.size());
  return text_.size() < most ? Wants::more : Wants::enough;
}

HttpSink::Wants Exchange::on_stream(std::string_view bytes) {
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
  if (state_ != WireDecoder::State::going_on) return;
  if (body_ == Body::stream) state_ = decoder_->finish();
  if (body_ != Body::whole) return;
  first_event_ = clock_.steady();
  state_ = decoder_->read_whole(text_);
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
  response.rate_limits = rate_limits(head_.headers);
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
  if (body_ == Body::stream && events_ > 0 && state_ != WireDecoder::State::failed)
    failure.lost_bytes = std::max(text_bytes_, received_ / kStreamBytesPerByte);
  return failure;
}

ModelFailure Exchange::cause(const HttpResult& result) const {
  if (state_ == WireDecoder::State::failed) return decoder_->failure();
  if (!too_long_.empty()) return cut(too_long_);
  if (head_.status != 0 && head_.status != 200)
    return failure_of_status(head_, text_, clock_.now());
  if (result.ending != HttpResult::Ending::complete) return failure_of_ending(result, head_.status);
  if (body_ != Body::stream && !(says_stream_ && received_ == 0))
    return cut(described(head_, text_.empty() ? begin_of_body_ : text_));
  return cut(events_ == 0 ? "the stream was empty" : "the stream ended before the response did");
}

ModelFailure Exchange::cut(const std::string& message) const {
  ModelFailure failure;
  failure.status = head_.status;
  failure.message = message;
  return failure;
}

}  // namespace sortie
