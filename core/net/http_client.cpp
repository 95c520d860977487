#include "core/net/http_client.h"

#include <signal.h>

#include <array>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/net/connection.h"
#include "core/net/http_reader.h"
#include "core/net/watchdog.h"
#include "core/text/text.h"

namespace sortie {

namespace {

using Clock = std::chrono::steady_clock;
using Ending = HttpResult::Ending;
using std::chrono::milliseconds;

constexpr int kMaxRedirects = 5;
/// How long to wait for the end of a response once the sink has enough, so that the connection can
/// be kept: servers end a stream right after its last event.
constexpr milliseconds kFarewell{100};

/// A time from now that does not overflow, even with the largest wait.
Clock::time_point after(milliseconds wait) {
  return Clock::now() + std::min<milliseconds>(wait, std::chrono::hours(24 * 365));
}

/// While this exists, a write to a broken connection is an error instead of a signal: OpenSSL writes without
/// MSG_NOSIGNAL, and the process may have a use for SIGPIPE elsewhere.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    const timespec now{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

std::string request_head(const HttpRequest& request, const Url& url) {
  std::string head = request.method + " " + (url.path.empty() ? "/" : url.path) +
                     " HTTP/1.1\r\nHost: " + url.authority() + "\r\n";
  for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
  // identity: a compressed stream arrives in lumps, its events late.
  head += "Accept-Encoding: identity\r\nConnection: keep-alive\r\n";
  if (!request.body.empty() || request.method == "POST")
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return head + "\r\n";
}

/// Where a redirect leads, if it keeps method and body; "" where it is none of these.
std::string redirect_target(const HttpHead& head) {
  const bool keeps =
      head.status == 301 || head.status == 302 || head.status == 307 || head.status == 308;
  return keeps ? std::string(header_value(head.headers, "Location")) : "";
}

/// The URL that a Location header names, relative to the present one. Throws InputError.
Url follow(const Url& from, const std::string& location) {
  // It becomes a line of the next request.
  for (const unsigned char c : location)
    if (c <= ' ' || c >= 0x7f) throw InputError("Location has blanks or control characters");
  if (location.starts_with("/") && !location.starts_with("//")) {
    Url to = from;
    to.path = location;
    return to;
  }
  const std::size_t query = location.find('?');
  Url to = parse_url(std::string_view(location).substr(0, query));
  if (query != std::string::npos) to.path += location.substr(query);
  return to;
}

/// Passes a response to the sink, with its content coding removed.
class Delivery {
 public:
  explicit Delivery(HttpSink& sink) : sink_(sink) {}
  /// @throws BodyError  for a coding that is not known
  void head(const HttpHead& head) {
    sink_.on_head(head);
    const auto coding = header_value(head.headers, "Content-Encoding");
    if (!BodyDecoder::is_identity(coding)) decoder_.emplace(coding);
  }
  /// @throws BodyError
  void body(std::string_view bytes) {
    while (!bytes.empty() && !enough_) {
      const auto piece = decoder_ ? decoder_->next(bytes) : std::exchange(bytes, {});
      if (!piece.empty()) enough_ = sink_.on_body(piece) == HttpSink::Wants::enough;
    }
  }
  bool enough() const { return enough_; }

 private:
  HttpSink& sink_;
  std::optional<BodyDecoder> decoder_;
  bool enough_ = false;
};

bool is_open(const HttpReader& reader) {
  return reader.state() == HttpReader::State::head || reader.state() == HttpReader::State::body;
}

}  // namespace

struct HttpClient::State {
  State(TrustedCertificates certificates, ProxySettings proxy_settings)
      : tls(std::move(certificates)), proxy(std::move(proxy_settings)) {}
  ~State() { stop_early(); }

  Watchdog watchdog;
  Tls tls;
  ProxySettings proxy;
  std::unique_ptr<Connection> connection;  ///< kept from the previous exchange
  bool is_unused = false;                  ///< `connection` has carried no request
  std::thread early;  ///< makes the first connection; owns the rest until it ends
  /// Why it was not made, for the first request to this place.
  std::optional<std::pair<Url, HttpResult>> early_failure;

  struct Step {
    HttpResult result;
    std::string redirect{};  ///< not followed yet
    bool received = false;   ///< a byte of the response came
  };

  std::optional<HttpResult> connect(const Url& url);
  void connect_early(const Url& url) noexcept;
  void wait_for_early(std::stop_token stop);
  void stop_early();
  HttpResult exchange(const HttpRequest& request, const HttpLimits& limits, HttpSink& sink);
  Step once(const HttpRequest& request, const Url& url, const HttpLimits& limits, HttpSink& sink);
  Step talk(const HttpRequest& request, const Url& url, const HttpLimits& limits, HttpSink& sink);
  HttpResult ended(Ending otherwise, std::string detail) const;
};

/// What ended an exchange: the watchdog if it has fired, else what was seen.
HttpResult HttpClient::State::ended(Ending otherwise, std::string detail) const {
  const auto fired = watchdog.fired();
  if (!fired) return {otherwise, std::move(detail)};
  switch (*fired) {
    case Ending::connect_timeout:
      return {*fired, "no connection within the time limit"};
    case Ending::first_byte_timeout:
      return {*fired, "no response within the time limit"};
    case Ending::idle_timeout:
      return {*fired, "the stream was silent for longer than the time limit"};
    case Ending::total_timeout:
      return {*fired, "the request took longer than the time limit"};
    default:
      return {*fired, ""};
  }
}

void HttpClient::State::connect_early(const Url& url) noexcept {
  try {
    const SigpipeBlocked no_signal;
    is_unused = true;
    if (auto failure = connect(url)) early_failure.emplace(url, std::move(*failure));
  } catch (const std::exception&) {
    // Not the server's: the request meets the same again.
  }
  watchdog.end();
}

void HttpClient::State::wait_for_early(std::stop_token stop) {
  if (!early.joinable()) return;
  const std::stop_callback on_stop(stop, [this] { watchdog.stop(); });
  early.join();
}

void HttpClient::State::stop_early() {
  if (!early.joinable()) return;
  watchdog.stop();
  early.join();
}

HttpResult HttpClient::State::exchange(const HttpRequest& request, const HttpLimits& limits,
                                       HttpSink& sink) {
  Url url = request.url;
  for (int redirects = 0;; ++redirects) {
    Step step = once(request, url, limits, sink);
    if (step.redirect.empty()) return std::move(step.result);
    const std::string refusal =
        "the server redirects to '" + one_line_of_words(step.redirect, 300) + "'";
    Url next;
    try {
      next = follow(url, step.redirect);
    } catch (const std::exception&) {
      return {Ending::redirect_refused, refusal};
    }
    if (!next.same_origin(url))
      return {Ending::redirect_refused, refusal + ", another host: nothing was sent there"};
    if (redirects == kMaxRedirects)
      return {Ending::redirect_refused, refusal + ", after too many redirects"};
    url = next;
  }
}

/// Makes the connection; what prevented it where that failed.
std::optional<HttpResult> HttpClient::State::connect(const Url& url) {
  try {
    connection = std::make_unique<Connection>(url, proxy_for(proxy, url), tls, watchdog);
    return std::nullopt;
  } catch (const ProxyCredentialsError& error) {
    return ended(Ending::proxy_credentials, error.what());
  } catch (const ConnectError& error) {
    return ended(Ending::no_connection, error.what());
  }
}

/// One request to one place: on the kept connection if there is one, else on a fresh one.
HttpClient::State::Step HttpClient::State::once(const HttpRequest& request, const Url& url,
                                                const HttpLimits& limits, HttpSink& sink) {
  if (connection &&
      (!request.repeatable || !connection->origin().same_origin(url) || connection->is_stale()))
    connection.reset();
  const bool is_first = std::exchange(is_unused, false);
  if (connection) {
    watchdog.watch(connection->descriptor());
    Step step = talk(request, url, limits, sink);
    // The server may close a kept connection just as we use it: the request has not failed.
    // One that carried nothing yet was not kept.
    const bool was_closed = !is_first && step.result.ending == Ending::cut && !step.received;
    if (!was_closed) return step;
  }
  // Once: a server that was not there is not asked twice for one request.
  if (const auto early_one = std::exchange(early_failure, std::nullopt);
      early_one && early_one->first.same_origin(url))
    return {.result = early_one->second};
  watchdog.limit(after(limits.connect), Ending::connect_timeout);
  if (auto failure = connect(url)) return {.result = std::move(*failure)};
  return talk(request, url, limits, sink);
}

HttpClient::State::Step HttpClient::State::talk(const HttpRequest& request, const Url& url,
                                                const HttpLimits& limits, HttpSink& sink) {
  // Taken out: an exception of the sink closes it.
  std::unique_ptr<Connection> used = std::move(connection);
  struct Unwatch {
    Watchdog& watchdog;
    ~Unwatch() { watchdog.watch(-1); }
  } const unwatch{watchdog};

  watchdog.limit(after(limits.first_byte), Ending::first_byte_timeout);
  // A server may answer and close before it has read all: the answer counts, not the broken pipe.
  if (used->send(request_head(request, url))) used->send(request.body);

  Step step;
  HttpReader reader(limits.head_bytes);
  Delivery delivery(sink);
  bool leaving = false;
  bool ending = false;
  std::array<char, 32768> buffer;
  while (is_open(reader)) {
    const std::size_t size = used->receive(buffer.data(), buffer.size());
    if (size == 0) {
      if (!watchdog.fired()) reader.at_end();
      break;
    }
    step.received = true;
    std::string_view bytes(buffer.data(), size);
    try {
      do {
        const bool in_head = reader.state() == HttpReader::State::head;
        const std::string_view piece = reader.next(bytes);
        if (in_head && reader.state() != HttpReader::State::head &&
            reader.state() != HttpReader::State::broken) {
          step.redirect = redirect_target(reader.head());
          if (!step.redirect.empty()) return step;
          delivery.head(reader.head());
        }
        delivery.body(piece);
      } while (!bytes.empty() && is_open(reader));
    } catch (const BodyError& error) {
      step.result = {Ending::malformed, error.what()};
      return step;
    }
    if (reader.state() != HttpReader::State::body) continue;
    if (delivery.enough()) {
      // Only once: a stream that goes on does not extend it.
      if (!std::exchange(leaving, true)) watchdog.limit(after(kFarewell), Ending::complete);
    } else if (sink.may_end()) {
      if (!std::exchange(ending, true)) watchdog.limit(after(kLastWords), Ending::idle_timeout);
    } else if (sink.has_begun()) {
      watchdog.limit(after(limits.idle), Ending::idle_timeout);
    }
  }
  const bool whole = reader.state() == HttpReader::State::done;
  if (whole || delivery.enough()) {
    step.result = {Ending::complete, ""};
  } else if (!reader.problem().empty()) {
    step.result = ended(Ending::malformed, reader.problem());
  } else {
    step.result = ended(Ending::cut, step.received ? "the connection ended before the response"
                                                   : "the server closed the connection");
  }
  if (whole && reader.keeps_connection() && !watchdog.fired()) connection = std::move(used);
  return step;
}

void prepare_tls() noexcept {
  const std::unique_ptr<SSL_CTX, FreeTls> context(::SSL_CTX_new(::TLS_client_method()));
  const TlsSession session(context ? ::SSL_new(context.get()) : nullptr);
  if (session) {
    // The client's first message, to nobody.
    ::SSL_set_bio(session.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_connect(session.get());
  }
  ::ERR_clear_error();
}

HttpClient::HttpClient(TrustedCertificates certificates, ProxySettings proxy)
    : state_(std::make_unique<State>(std::move(certificates), std::move(proxy))) {}

HttpClient::~HttpClient() = default;

void HttpClient::connect_early(const Url& url, milliseconds limit) {
  // Here, so that a stop reaches it however soon it comes.
  state_->watchdog.begin(after(limit));
  state_->watchdog.limit(after(limit), Ending::connect_timeout);
  // Signals are for the main thread.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->early = std::thread([state = state_.get(), url] { state->connect_early(url); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HttpResult HttpClient::send(const HttpRequest& request, const HttpLimits& limits, HttpSink& sink,
                            std::stop_token stop) {
  state_->wait_for_early(stop);
  const SigpipeBlocked no_signal;
  state_->watchdog.begin(after(limits.total));
  struct End {
    Watchdog& watchdog;
    ~End() { watchdog.end(); }
  } const end{state_->watchdog};
  const std::stop_callback on_stop(stop, [this] { state_->watchdog.stop(); });
  return state_->exchange(request, limits, sink);
}

}  // namespace sortie
