#include "core/model/http_model.h"

#include <algorithm>
#include <random>

#include "core/base/text.h"

namespace sortie {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxErrorBytes = 64u << 10;

milliseconds to_ms(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration_cast<milliseconds>(duration);
}

std::function<double()> seeded_random() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

bool is_event_stream(const HttpHead& head) {
  std::string type(header_value(head.headers, "Content-Type"));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type.starts_with("text/event-stream");
}

/// A limit is one of a plan: where the provider's words don't name it, the sign-in does.
void add_plan(const std::string& plan, ModelFailure& failure) {
  if (!plan.empty() && failure.message.find(plan) == std::string::npos)
    failure.message += " (plan: " + plan + ")";
}

}  // namespace

/// One try: takes the response as it comes and decodes it.
class HttpModel::Exchange : public HttpSink {
 public:
  Exchange(std::unique_ptr<WireDecoder> decoder, const Clock& clock, StreamSink& progress,
           bool keep_stream)
      : decoder_(std::move(decoder)),
        clock_(clock),
        progress_(progress),
        keep_stream_(keep_stream),
        begin_(clock.steady()) {}

  void on_head(const HttpHead& head) override {
    head_ = head;
    stream_ = head.status == 200 && is_event_stream(head);
  }

  Wants on_body(std::string_view bytes) override {
    received_ += bytes.size();
    if (!stream_) {
      text_ += bytes.substr(0, kMaxErrorBytes - text_.size());
      return text_.size() < kMaxErrorBytes ? Wants::more : Wants::enough;
    }
    if (keep_stream_) text_ += bytes;
    try {
      parser_.feed(bytes, [this](const SseEvent& event) { read(event); });
    } catch (const SseError& error) {
      too_long_ = error.what();
      return Wants::enough;
    }
    progress_.on_progress(received_);
    return state_ == WireDecoder::State::going_on ? Wants::more : Wants::enough;
  }

  /// No more is to come.
  void finish() {
    if (stream_ && state_ == WireDecoder::State::going_on) state_ = decoder_->finish();
  }
  bool complete() const { return state_ == WireDecoder::State::complete; }
  const HttpHead& head() const { return head_; }
  std::string& text() { return text_; }

  Response response() {
    Response response = decoder_->take();
    response.first_event = to_ms(first_event_ - begin_);
    response.duration = to_ms(clock_.steady() - begin_);
    return response;
  }

  /// Why it is not complete.
  ModelFailure failure(const HttpResult& result) const {
    if (state_ == WireDecoder::State::failed) return decoder_->failure();
    if (!too_long_.empty()) return cut(too_long_);
    const bool ended = result.ending == HttpResult::Ending::complete;
    if (head_.status != 0 && head_.status != 200)
      return failure_of_status(head_, text_, clock_.now());
    if (!ended) return failure_of_ending(result, head_.status);
    if (!stream_) {
      const auto type = header_value(head_.headers, "Content-Type");
      return cut("the server answered with " +
                 (type.empty() ? "no content type" : "content type '" + one_line(type, 80) + "'") +
                 " in place of an event stream");
    }
    return cut(events_ == 0 ? "the stream was empty" : "the stream ended before the response did");
  }

 private:
  void read(const SseEvent& event) {
    if (events_++ == 0) first_event_ = clock_.steady();
    state_ = decoder_->read(event);
  }
  ModelFailure cut(const std::string& message) const {
    ModelFailure failure;
    failure.status = head_.status;
    failure.message = message;
    return failure;
  }

  std::unique_ptr<WireDecoder> decoder_;
  const Clock& clock_;
  StreamSink& progress_;
  bool keep_stream_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point first_event_{};
  HttpHead head_;
  bool stream_ = false;
  SseParser parser_;
  WireDecoder::State state_ = WireDecoder::State::going_on;
  std::string text_;  ///< the stream where it is kept, else the body of an error
  std::string too_long_;
  std::uint64_t received_ = 0;
  std::uint64_t events_ = 0;
};

HttpModel::HttpModel(const Wire& wire, Http& http, Clock& clock, HttpModelOptions options)
    : wire_(wire),
      http_(http),
      clock_(clock),
      options_(std::move(options)),
      body_(wire),
      own_retries_left_(options_.retries_of_run),
      retries_left_(options_.retries_left ? *options_.retries_left : own_retries_left_) {
  if (!options_.random) options_.random = seeded_random();
}

Response HttpModel::ask(const Request& request, StreamSink& stream,
                        std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
  RequestRecord record = body_.update(request);
  record.provider = options_.endpoint.provider;
  HttpRequest http_request{.url = options_.endpoint.target(wire_.path()),
                           .headers = options_.headers,
                           .body = body_.bytes()};
  CredentialSource* const credential = options_.credential;
  int renewals = 0;  // tries that a credential had worn out for; no retries
  for (int attempt = 1;; ++attempt) {
    if (stop.stop_requested()) throw Stopped();
    if (clock_.steady() >= deadline) throw out_of_time();
    if (credential) {
      if (const auto failure = credential->prepare(deadline, stop)) {
        wait(*failure, attempt - renewals, deadline, stream, stop);
        continue;
      }
      http_request.headers = options_.headers;
      for (auto& header : credential->headers()) http_request.headers.push_back(std::move(header));
    }
    const milliseconds left = to_ms(deadline - clock_.steady());
    if (left <= milliseconds(0)) throw out_of_time();
    stream.on_request(record, attempt);
    HttpLimits limits = options_.limits;
    limits.total = std::min(limits.total, left);
    Exchange exchange(wire_.decoder(request.settings), clock_, stream,
                      options_.recording != nullptr);
    const HttpResult result = http_.send(http_request, limits, exchange, stop);
    // However it ended: of a response that is whole, only the usage may be missing.
    if (result.ending != HttpResult::Ending::stopped) exchange.finish();
    if (exchange.complete()) {
      if (options_.recording) record_stream(exchange.head(), std::move(exchange.text()));
      return exchange.response();
    }
    if (result.ending == HttpResult::Ending::stopped) throw Stopped();
    if (clock_.steady() >= deadline) throw out_of_time();
    ModelFailure failure = exchange.failure(result);
    if (credential && failure.kind == "quota") add_plan(credential->plan(), failure);
    const bool unauthorized = failure.status == 401 || failure.status == 403;
    if (unauthorized && credential && renewals == 0 && credential->refused()) {
      ++renewals;
      continue;
    }
    wait(failure, attempt - renewals, deadline, stream, stop);
  }
}

ModelError HttpModel::out_of_time() {
  return ModelError("the time budget was used up during a request to the model", ExitCode::budget,
                    "time");
}

void HttpModel::record_stream(const HttpHead& head, std::string text) {
  RecordedStream recorded{.wire = std::string(wire_.name()), .status = head.status};
  // Other headers tell of the connection, or of the account.
  recorded.headers.emplace_back("Content-Type", header_value(head.headers, "Content-Type"));
  recorded.sse = std::move(text);
  options_.recording->add(recorded);
}

/// Waits for the next try, or throws where there is to be none.
void HttpModel::wait(const ModelFailure& failure, int attempt,
                     std::chrono::steady_clock::time_point deadline, StreamSink& stream,
                     const std::stop_token& stop) {
  const std::string place = options_.endpoint.base.authority();
  if (!failure.transient)
    throw ModelError(place + ": " + failure.message, failure.code, failure.kind,
                     failure.retry_after);
  const milliseconds left = to_ms(deadline - clock_.steady());
  if (failure.retry_after && *failure.retry_after >= left)
    throw ModelError(place + ": " + failure.message +
                         "; the provider asks for a longer wait than the time budget has",
                     ExitCode::limited, failure.kind, failure.retry_after);
  const auto delay = retry_delay(
      {.transient = true, .retry_after = failure.retry_after}, attempt,
      {.retries = options_.retries, .retries_left_in_run = retries_left_}, options_.random());
  if (!delay)
    throw ModelError(place + ": " + failure.message + " (after " + std::to_string(attempt) +
                         (attempt == 1 ? " try)" : " tries)"),
                     failure.code, failure.kind, failure.retry_after);
  if (*delay >= left) throw out_of_time();
  --retries_left_;
  stream.on_retry({.attempt = attempt,
                   .status = failure.status,
                   .kind = failure.kind,
                   .message = failure.message,
                   .delay = *delay,
                   .retry_after = failure.retry_after});
  if (!clock_.sleep_for(*delay, stop)) throw Stopped();
}

}  // namespace sortie
