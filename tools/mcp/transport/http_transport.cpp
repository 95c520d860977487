#include "tools/mcp/transport/http_transport.h"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

namespace sortie::mcp {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Delivered = HttpDelivery::Ending;

/// Limit for ending the session, within the caller's deadline.
constexpr milliseconds kGoodbyeLimit = std::chrono::seconds(3);

/// Starts a thread that receives no signals: they belong to the main thread.
template <typename Work>
std::jthread quiet_thread(Work work) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

/// Serializes the calls of several threads to the receiver, and passes none after the end.
class Gate {
 public:
  void open(Receiver& receiver) { receiver_ = &receiver; }
  template <typename Call>
  void pass(Call call) {
    const std::lock_guard lock(mutex_);
    if (receiver_) call(*receiver_);
  }
  void close(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (receiver_) receiver_->closed(why);
    receiver_ = nullptr;
  }
  void shut() {
    const std::lock_guard lock(mutex_);
    receiver_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Receiver* receiver_ = nullptr;
};

}  // namespace

struct HttpTransport::State {
  State(HttpServer server, MakeHttp make_http, const HttpTransportLimits& given)
      : limits(given), session(std::move(server), std::move(make_http)) {}

  struct Waiting {
    Message message;
    std::size_t bytes = 0;
  };
  struct Running {
    Message request;
    bool ended = false;
    std::jthread thread{};
  };

  void work(std::stop_token stop);
  void end_work(std::unique_lock<std::mutex>& lock, bool stopped);
  void start(Message request);
  void deliver(const Message& message, std::stop_token stop);
  void start_listening();
  void end_threads();
  void end_session();
  void end(const std::string& why);
  HttpMessages messages();

  const HttpTransportLimits limits;
  HttpSession session;
  Gate gate;

  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Waiting> waiting;
  std::size_t waiting_bytes = 0;
  std::list<Running> running;
  bool opened = false;
  bool closing = false;  ///< close() was called: no new message
  Clock::time_point close_by{};
  std::string over;  ///< why nothing can be sent anymore; "" while it can
  bool finished = false;
  std::jthread listener;
  std::jthread worker;
};

HttpMessages HttpTransport::State::messages() {
  return {.received =
              [this](Message message) {
                gate.pass([&](Receiver& receiver) { receiver.received(std::move(message)); });
              },
          .bad =
              [this](const std::string& why) {
                gate.pass([&](Receiver& receiver) {
                  receiver.remarked({.kind = Remark::Kind::bad_message, .text = why});
                });
              }};
}

/// Delivers queued messages until the end, then shuts everything down. Starts and joins all other
/// threads.
void HttpTransport::State::work(std::stop_token stop) {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, stop, [this] {
      return !over.empty() || closing || !waiting.empty() ||
             std::any_of(running.begin(), running.end(), [](const auto& one) { return one.ended; });
    });
    std::list<Running> done;
    for (auto one = running.begin(); one != running.end();) {
      const auto next = std::next(one);
      if (one->ended) done.splice(done.end(), running, one);
      one = next;
    }
    if (stop.stop_requested() || !over.empty()) break;
    if (waiting.empty()) {
      if (closing) break;
    } else {
      Message message = std::move(waiting.front().message);
      waiting_bytes -= waiting.front().bytes;
      waiting.pop_front();
      if (message.kind == Message::Kind::request) {
        if (!closing) start(std::move(message));
      } else {
        lock.unlock();
        deliver(message, stop);
        lock.lock();
      }
    }
    if (!done.empty()) {
      lock.unlock();
      done.clear();  // joins them
      lock.lock();
    }
  }
  end_work(lock, stop.stop_requested());
}

/// Called and returns with the mutex held, but releases it meanwhile.
void HttpTransport::State::end_work(std::unique_lock<std::mutex>& lock, bool stopped) {
  const bool lost = !over.empty();
  if (!lost) over = "the connection was closed";
  const std::string why = over;
  const bool polite = closing && !lost && !stopped;
  lock.unlock();
  end_threads();
  if (polite) end_session();
  gate.close(why);
  lock.lock();
  finished = true;
  changed.notify_all();
}

/// Requires the mutex.
void HttpTransport::State::start(Message request) {
  Running& one = running.emplace_back(Running{.request = std::move(request)});
  one.thread = quiet_thread([this, &one](std::stop_token stop) {
    const HttpDelivery delivery =
        deliver_request(session, one.request, limits.exchange, messages(), stop);
    if (delivery.ending == Delivered::failed && !stop.stop_requested())
      gate.pass([&](Receiver& receiver) { receiver.failed(one.request.id, delivery.why); });
    if (delivery.ending == Delivered::session_lost) end(delivery.why);
    const std::lock_guard lock(mutex);
    one.ended = true;
    changed.notify_all();
  });
}

void HttpTransport::State::deliver(const Message& message, std::stop_token stop) {
  milliseconds limit = limits.exchange.notification;
  {
    const std::lock_guard lock(mutex);
    if (closing)
      limit = std::clamp(std::chrono::duration_cast<milliseconds>(close_by - Clock::now()),
                         milliseconds(0), limit);
  }
  const HttpDelivery delivery =
      deliver_notice(session, message, limits.exchange, limit, messages(), stop);
  if (delivery.ending == Delivered::session_lost) return end(delivery.why);
  if (delivery.ending == Delivered::failed) {
    const std::string what = message.method.empty() ? "a reply" : message.method;
    gate.pass([&](Receiver& receiver) {
      receiver.remarked({.kind = Remark::Kind::warning,
                         .text = what + " could not be delivered: " + delivery.why});
    });
  }
  if (message.method == "notifications/initialized") start_listening();
}

void HttpTransport::State::start_listening() {
  if (listener.joinable()) return;
  listener = quiet_thread([this](std::stop_token stop) {
    const HttpDelivery delivery = listen(session, limits.exchange, messages(), stop);
    if (delivery.ending != Delivered::failed || stop.stop_requested()) return;
    gate.pass([&](Receiver& receiver) {
      receiver.remarked({.kind = Remark::Kind::warning,
                         .text = "the server's own messages can't be received: " + delivery.why});
    });
  });
}

void HttpTransport::State::end_threads() {
  std::list<Running> all;
  {
    const std::lock_guard lock(mutex);
    all.swap(running);
  }
  for (Running& one : all) one.thread.request_stop();
  if (listener.joinable()) listener.request_stop();
  all.clear();
  if (listener.joinable()) listener.join();
}

/// Ends the session at the server. The response does not matter, not even a refusal (405).
void HttpTransport::State::end_session() {
  if (!session.has_id()) return;
  const auto left =
      std::min(std::chrono::duration_cast<milliseconds>(close_by - Clock::now()), kGoodbyeLimit);
  if (left <= milliseconds(0)) return;
  HttpReply reply([](Message) { return HttpSink::Wants::enough; }, [](const std::string&) {});
  session.remove({.connect = left, .first_byte = left, .idle = left, .total = left}, reply, {});
}

void HttpTransport::State::end(const std::string& why) {
  const std::lock_guard lock(mutex);
  if (over.empty()) over = why;
  changed.notify_all();
}

HttpTransport::HttpTransport(HttpServer server, MakeHttp make_http,
                             const HttpTransportLimits& limits)
    : state_(std::make_unique<State>(std::move(server), std::move(make_http), limits)) {}

HttpTransport::~HttpTransport() {
  state_->gate.shut();
  state_->worker.request_stop();
  if (state_->worker.joinable()) state_->worker.join();
}

void HttpTransport::open(Receiver& receiver, Deadline, std::stop_token) {
  if (!state_->session.can_be_sent())
    throw TransportError("its bearer token contains blanks, control or non-ASCII characters");
  state_->gate.open(receiver);
  {
    const std::lock_guard lock(state_->mutex);
    state_->opened = true;
  }
  state_->worker =
      quiet_thread([state = state_.get()](std::stop_token stop) { state->work(stop); });
}

void HttpTransport::send(const Message& message) {
  const std::size_t bytes = write_message(message).size();
  const std::lock_guard lock(state_->mutex);
  if (!state_->opened) throw TransportError("the connection was not opened");
  if (!state_->over.empty()) throw TransportError(state_->over);
  if (state_->closing) throw TransportError("the connection was closed");
  if (state_->waiting.size() >= state_->limits.waiting ||
      state_->waiting_bytes + bytes > state_->limits.waiting_bytes)
    throw TransportError("too many messages are queued: the server accepts none");
  if (message.kind == Message::Kind::request &&
      state_->running.size() >= state_->limits.open_requests)
    throw TransportError("too many requests are waiting for replies");
  state_->waiting.push_back({message, bytes});
  state_->waiting_bytes += bytes;
  state_->changed.notify_all();
}

void HttpTransport::agree(const std::string& protocol_version) {
  state_->session.agree(protocol_version);
}

void HttpTransport::abandon(const Json& id) {
  const std::lock_guard lock(state_->mutex);
  for (State::Running& one : state_->running)
    if (one.request.id == id) one.thread.request_stop();
  auto& waiting = state_->waiting;
  for (auto one = waiting.begin(); one != waiting.end(); ++one) {
    if (one->message.kind != Message::Kind::request || one->message.id != id) continue;
    state_->waiting_bytes -= one->bytes;
    waiting.erase(one);
    return;
  }
}

void HttpTransport::close(Deadline deadline) {
  std::unique_lock lock(state_->mutex);
  if (!state_->opened) return;
  if (!state_->closing) {
    state_->closing = true;
    state_->close_by = deadline;
    state_->changed.notify_all();
  }
  if (state_->changed.wait_until(lock, deadline, [this] { return state_->finished; })) return;
  state_->worker.request_stop();
  state_->changed.wait(lock, [this] { return state_->finished; });
}

}  // namespace sortie::mcp
