#include "core/provider/http_model.h"

#include <algorithm>
#include <random>

#include "core/base/clock.h"
#include "core/provider/exchange.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

std::function<double()> seeded_random() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

/// "12 s", "0.3 s"
std::string seconds_of(milliseconds time) {
  if (time >= std::chrono::seconds(10)) return std::to_string(time.count() / 1000) + " s";
  return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() / 100 % 10) + " s";
}

/// By the conversation's estimate, which knows of images; else by the bytes.
RequestSize size_of(const Request& request, std::size_t bytes) {
  const auto by_bytes = static_cast<std::int64_t>(bytes / 4);
  return {.input_tokens = request.estimated_input > 0 ? request.estimated_input : by_bytes,
          .max_output_tokens = request.settings.max_output_tokens};
}

}  // namespace

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
  HttpRequest http_request{.url = options_.endpoint.target(wire_.path(request.settings.model)),
                           .headers = options_.headers,
                           .body = body_.bytes()};
  std::unique_ptr<PacedRequest> paced;
  if (options_.pacer) paced = options_.pacer->begin(size_of(request, body_.bytes().size()));
  CredentialSource* const credential = options_.credential;
  int renewals = 0;  // attempts repeated with a new credential; not retries
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
    if (paced) wait_for_turn(*paced, deadline, stream, stop);
    const milliseconds left = std::chrono::ceil<milliseconds>(deadline - clock_.steady());
    if (left <= milliseconds(0)) throw out_of_time();
    stream.on_request(record, attempt);
    HttpLimits limits = options_.limits;
    limits.total = std::min(limits.total, left);
    Exchange exchange(wire_.decoder(request.settings), clock_,
                      {.keep_stream = options_.recording != nullptr,
                       .stop_repetition = options_.stop_repetition,
                       .may_repeat = request.may_repeat});
    const auto asked = clock_.steady();
    const HttpResult result = http_.send(http_request, limits, exchange, stop);
    // Even if the exchange broke off, only the usage may be missing.
    if (result.ending != HttpResult::Ending::stopped) exchange.finish();
    if (exchange.is_complete()) {
      if (options_.recording) record_stream(exchange.head(), std::move(exchange.stream()));
      Response response = exchange.response();
      if (paced) paced->settle(response.usage);
      response.requested_model = request.settings.model;
      return response;
    }
    const ModelFailure failure = exchange.failure(result);
    if (paced && failure.kind == kRateLimited) paced->refuse(failure.retry_after);
    if (failure.lost_bytes) stream.on_cut_off(attempt, *failure.lost_bytes);
    if (result.ending == HttpResult::Ending::stopped) throw Stopped();
    const bool whole_time =
        limits.total == left && result.ending == HttpResult::Ending::total_timeout;
    if (whole_time || clock_.steady() >= deadline)
      throw cut_off_by_budget(failure, clock_.steady() - asked);
    const bool unauthorized = failure.status == 401 || failure.status == 403;
    if (unauthorized && credential && renewals == 0 && credential->refused()) {
      ++renewals;
      continue;
    }
    wait(failure, attempt - renewals, deadline, stream, stop);
  }
}

/// Before each attempt, so that what others were refused meanwhile counts too.
void HttpModel::wait_for_turn(PacedRequest& paced, std::chrono::steady_clock::time_point deadline,
                              StreamSink& stream, const std::stop_token& stop) const {
  const std::string place = options_.endpoint.base.authority();
  const auto began = clock_.steady();
  const PacedRequest::Wait wait =
      paced.wait(deadline, stop, [&stream](const PacedWait& told) { stream.on_wait(told); });
  if (wait.ending == PacedRequest::Ending::paused)
    throw ModelError(place +
                         ": the rate limit is reached (as another request was told); the provider "
                         "asks to wait " +
                         seconds_of(wait.pause) + ", and the time budget has " +
                         seconds_of(std::chrono::ceil<milliseconds>(deadline - clock_.steady())) +
                         " left",
                     ExitCode::limited, std::string(kRateLimited), wait.pause);
  if (wait.ending == PacedRequest::Ending::out_of_time)
    throw ModelError(
        place + ": no request of this run had its turn within the shared rate limit for " +
            seconds_of(to_ms(clock_.steady() - began)) + ", when the time budget ran out",
        ExitCode::budget, std::string(kWaitedForModel));
}

ModelError HttpModel::out_of_time() {
  return ModelError("the time budget ran out during a request to the model", ExitCode::budget,
                    "time");
}

/// The provider is to blame, not the work: it was waited for until the time was over.
ModelError HttpModel::cut_off_by_budget(const ModelFailure& failure,
                                        std::chrono::steady_clock::duration waited) const {
  const std::string time = seconds_of(to_ms(waited));
  return ModelError(options_.endpoint.base.authority() +
                        (failure.status == 0 ? " did not answer for " + time
                                             : " had not finished its answer after " + time) +
                        ", when the time budget ran out",
                    ExitCode::budget, std::string(kWaitedForModel));
}

/// " (after 6 tries)", and whether the retries of the whole run are used up.
std::string HttpModel::tries_text(int attempt) const {
  const std::string tries = std::to_string(attempt) + (attempt == 1 ? " try" : " tries");
  if (retries_left_ > 0 || attempt > options_.retries) return " (after " + tries + ")";
  return " (after " + tries + "; the run's " + std::to_string(options_.retries_of_run) +
         " retries are used up)";
}

void HttpModel::record_stream(const HttpHead& head, std::string text) {
  RecordedStream recorded{.wire = std::string(wire_.name()), .status = head.status};
  // Other headers describe the connection, or the account.
  recorded.headers.emplace_back("Content-Type", header_value(head.headers, "Content-Type"));
  recorded.sse = std::move(text);
  options_.recording->add(recorded);
}

/// Waits before a retry, or throws if there is none.
void HttpModel::wait(const ModelFailure& failure, int attempt,
                     std::chrono::steady_clock::time_point deadline, StreamSink& stream,
                     const std::stop_token& stop) {
  const std::string place = options_.endpoint.base.authority();
  const std::string message = failure.message + plan_of(failure);
  if (!failure.transient)
    throw ModelError(place + ": " + message, failure.code, failure.kind, failure.retry_after);
  const milliseconds left = std::chrono::ceil<milliseconds>(deadline - clock_.steady());
  if (failure.retry_after && *failure.retry_after >= left)
    throw ModelError(place + ": " + message + "; the provider asks to wait " +
                         seconds_of(*failure.retry_after) + ", and the time budget has " +
                         seconds_of(left) + " left",
                     ExitCode::limited, failure.kind, failure.retry_after);
  const auto delay = retry_delay(
      {.transient = true, .retry_after = failure.retry_after}, attempt,
      {.retries = options_.retries, .retries_left_in_run = retries_left_}, options_.random());
  if (!delay)
    throw ModelError(place + ": " + message + tries_text(attempt), failure.code, failure.kind,
                     failure.retry_after);
  if (*delay >= left)
    throw ModelError(place + ": " + message + "; the time budget has no time left for another try",
                     ExitCode::budget, std::string(kWaitedForModel));
  --retries_left_;
  stream.on_retry({.attempt = attempt,
                   .status = failure.status,
                   .kind = failure.kind,
                   .message = message,
                   .delay = *delay,
                   .retry_after = failure.retry_after});
  if (!clock_.sleep_for(*delay, stop)) throw Stopped();
}

/// " (plan: plus)" if a limit of the account was reached and its plan is known; else "".
std::string HttpModel::plan_of(const ModelFailure& failure) const {
  if (!is_one_of(failure.kind, {"quota", "billing", "rate_limit"})) return "";
  std::string plan = failure.plan;
  if (plan.empty() && options_.credential) plan = options_.credential->plan();
  return plan.empty() ? "" : " (plan: " + plan + ")";
}

}  // namespace sortie
