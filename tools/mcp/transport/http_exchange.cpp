#include "tools/mcp/transport/http_exchange.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace sortie::mcp {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Delivered = HttpDelivery::Ending;

/// The server's own stream may be silent for the whole run.
constexpr milliseconds kUnlimited = std::chrono::hours(24 * 30);

/// Waits. @return  false on a stop
bool pause(milliseconds time, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

milliseconds left_until(Clock::time_point end) {
  return std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds(0));
}

HttpLimits http_limits(const HttpExchangeLimits& limits, milliseconds total) {
  return {.connect = std::min(limits.connect, total),
          .first_byte = total,
          .idle = total,
          .total = total};
}

std::string seconds_text(milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + " s";
}

/// Why an exchange brought no answer.
std::string broken_text(const HttpResult& result) {
  return result.detail.empty() ? "the connection ended" : result.detail;
}

/// Why the server refused a message, by its status and body.
std::string refusal_text(const HttpReply& reply, const HttpSession& session, bool is_first) {
  const std::string status = " (status " + std::to_string(reply.status()) + ")";
  std::string text;
  switch (reply.status()) {
    case 401:
      text = (session.has_token() ? "the server rejects the bearer token"
                                  : "the server requires a bearer token, and there is none") +
             status;
      break;
    case 403:
      text = "the server forbids it" + status;
      break;
    case 404:
    case 405:
      text = is_first ? "there is no streamable HTTP server at " + session.name() + status +
                            "; the older HTTP+SSE transport of version 2024-11-05 is not supported"
                      : "the server rejected the message" + status;
      break;
    case 429:
      text = "too many requests" + status;
      if (is_visible_ascii(reply.retry_after()) && reply.retry_after().size() <= 10)
        text += ", retry after " + reply.retry_after() + " s";
      break;
    default:
      text = (reply.status() >= 500 ? "the server failed" : "the server rejected the message") +
             status;
  }
  const std::string refusal = reply.refusal();
  return refusal.empty() ? text : text + ": " + refusal;
}

/// What a response without the awaited message means for the delivery; `done` if it may continue.
HttpDelivery delivery_of(const HttpResult& result, const HttpReply& reply,
                         const HttpSession& session, bool had_session, bool is_first) {
  if (result.ending == HttpResult::Ending::stopped) return {Delivered::stopped, ""};
  if (!reply.problem().empty()) return {Delivered::failed, reply.problem()};
  if (reply.status() == 404 && had_session)
    return {Delivered::session_lost, "the server does not know the session anymore (status 404)"};
  if (reply.status() != 0 && !reply.accepted())
    return {Delivered::failed, refusal_text(reply, session, is_first)};
  return {};
}

/// A request under way.
class Request {
 public:
  Request(HttpSession& session, const Message& request, const HttpExchangeLimits& limits,
          const HttpMessages& messages, std::stop_token stop)
      : session_(session),
        request_(request),
        limits_(limits),
        messages_(messages),
        stop_(std::move(stop)),
        end_(Clock::now() + limits.request) {}

  HttpDelivery run() {
    HttpReply reply = make_reply();
    reply_ = &reply;
    const bool had_session = session_.has_id();
    const HttpResult result = session_.post(write_message(request_), false, left(), reply, stop_);
    reply_ = nullptr;
    if (answered_) return {};
    if (const auto end = delivery_of(result, reply, session_, had_session, is_first());
        end.ending != Delivered::done)
      return end;
    if (!bad_session_.empty()) return {Delivered::failed, bad_session_};
    note_position(reply);
    if (!reply.is_stream() || last_event_id_.empty()) return no_answer(result);
    return resume();
  }

 private:
  bool is_first() const { return request_.method == "initialize"; }
  HttpLimits left() const { return http_limits(limits_, left_until(end_)); }

  HttpReply make_reply() {
    return {[this](Message message) { return take(std::move(message)); }, messages_.bad,
            limits_.reply, request_.id};
  }

  HttpSink::Wants take(Message message) {
    // An error without an id can only refer to this request.
    if (message.kind == Message::Kind::error && message.id.is_null()) message.id = request_.id;
    const bool is_answer = message.is_reply() && message.id == request_.id;
    // Before the answer is passed on: messages sent in response belong to the session.
    if (is_answer && is_first() && reply_ && !session_.begin(reply_->session_id())) {
      bad_session_ = "the server's session ID can't be sent back in a header";
      return HttpSink::Wants::enough;
    }
    if (is_answer) answered_ = true;
    messages_.received(std::move(message));
    return is_answer ? HttpSink::Wants::enough : HttpSink::Wants::more;
  }

  void note_position(const HttpReply& reply) {
    if (reply.retry()) retry_ = std::max(*reply.retry(), limits_.shortest_retry);
    const std::string& id = reply.last_event_id();
    if (id.empty() || id == last_event_id_ || id.size() > 4096 || !is_header_value(id)) return;
    last_event_id_ = id;
    tries_ = 0;
  }

  static HttpDelivery no_answer(const HttpResult& result) {
    if (result.ending != HttpResult::Ending::complete)
      return {Delivered::failed, broken_text(result)};
    return {Delivered::failed, "the server's response ended without an answer"};
  }

  HttpDelivery resume() {
    while (tries_++ < limits_.retries) {
      const auto wait = retry_.value_or(limits_.retry);
      if (wait >= left_until(end_))
        return {Delivered::failed, "the stream broke, and the server asks to wait " +
                                       seconds_text(wait) + " before resuming it"};
      if (!pause(wait, stop_)) return {Delivered::stopped, ""};
      HttpReply reply = make_reply();
      const HttpResult result = session_.get(last_event_id_, left(), reply, stop_);
      if (answered_) return {};
      if (const auto end = delivery_of(result, reply, session_, session_.has_id(), false);
          end.ending != Delivered::done)
        return end.ending == Delivered::failed
                   ? HttpDelivery{end.ending,
                                  "the stream broke and could not be resumed: " + end.why}
                   : end;
      note_position(reply);
    }
    return {Delivered::failed, "the stream broke, and " + std::to_string(limits_.retries) +
                                   " attempts to resume it failed"};
  }

  HttpSession& session_;
  const Message& request_;
  const HttpExchangeLimits& limits_;
  const HttpMessages& messages_;
  const std::stop_token stop_;
  const Clock::time_point end_;
  const HttpReply* reply_ = nullptr;  ///< to the POST, while that is in progress
  bool answered_ = false;
  std::string bad_session_;
  std::string last_event_id_;
  std::optional<milliseconds> retry_;
  int tries_ = 0;
};

}  // namespace

HttpDelivery deliver_request(HttpSession& session, const Message& request,
                             const HttpExchangeLimits& limits, const HttpMessages& messages,
                             std::stop_token stop) {
  return Request(session, request, limits, messages, std::move(stop)).run();
}

HttpDelivery deliver_notice(HttpSession& session, const Message& message,
                            const HttpExchangeLimits& limits, milliseconds limit,
                            const HttpMessages& messages, std::stop_token stop) {
  const auto received = [&messages](Message got) {
    messages.received(std::move(got));
    return HttpSink::Wants::more;
  };
  HttpReply reply(received, messages.bad, limits.reply);
  const bool had_session = session.has_id();
  const HttpResult result =
      session.post(write_message(message), true, http_limits(limits, limit), reply, stop);
  HttpDelivery end = delivery_of(result, reply, session, had_session, false);
  // An accepting status counts, whatever follows the head.
  if (end.ending == Delivered::failed && reply.accepted()) end = {};
  if (end.ending == Delivered::done && reply.status() == 0)
    end = {Delivered::failed, broken_text(result)};
  return end;
}

HttpDelivery listen(HttpSession& session, const HttpExchangeLimits& limits,
                    const HttpMessages& messages, std::stop_token stop) {
  std::string last_event_id;
  std::optional<milliseconds> asked;
  for (int tries = 0; tries < limits.retries; ++tries) {
    // The delay doubles each time, so that streams that end at once don't keep both sides busy.
    if (tries > 0 || asked) {
      const milliseconds wait = std::max(asked.value_or(limits.retry), limits.retry);
      if (!pause(wait * (1 << std::max(tries - 1, 0)), stop)) return {Delivered::stopped, ""};
    }
    bool brought = false;
    const auto received = [&](Message message) {
      brought = true;
      messages.received(std::move(message));
      return HttpSink::Wants::more;
    };
    HttpReply reply(received, messages.bad, limits.reply);
    HttpLimits unlimited = http_limits(limits, kUnlimited);
    unlimited.connect = limits.connect;
    const HttpResult result = session.get(last_event_id, unlimited, reply, stop);
    // Not an error: the stream is optional.
    if (reply.status() == 405 || reply.status() == 404) return {};
    if (auto end = delivery_of(result, reply, session, false, false); end.ending != Delivered::done)
      return end;
    if (reply.accepted() && !reply.is_stream()) return {};
    if (reply.retry()) asked = std::min(*reply.retry(), milliseconds(std::chrono::hours(1)));
    const std::string& id = reply.last_event_id();
    if (!id.empty() && id.size() <= 4096 && is_header_value(id)) last_event_id = id;
    if (brought) tries = 0;
  }
  return {Delivered::failed, "the server's own stream broke repeatedly"};
}

}  // namespace sortie::mcp
