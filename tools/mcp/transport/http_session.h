#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/http.h"
#include "core/net/sse.h"
#include "tools/mcp/transport/json_rpc.h"

namespace sortie::mcp {

struct HttpReplyLimits {
  ParseLimits message{};
  std::size_t stream_bytes = 256u << 20;  ///< size of one stream, all messages together
  int bad_messages = 100;                 ///< in one stream
};

/// Reads one HTTP response of a server: a message as JSON, an event stream of messages, an
/// acknowledgement without a body, or a refusal.
class HttpReply : public HttpSink {
 public:
  /// Called with each message as it arrives; `enough` leaves the rest of the response unread.
  using OnMessage = std::function<Wants(Message)>;
  /// Called with what is wrong with a message that is skipped.
  using OnBadMessage = std::function<void(const std::string&)>;

  /// @param awaited  id of the request whose reply it should contain: if that is malformed, reading
  ///                 ends
  HttpReply(OnMessage on_message, OnBadMessage on_bad_message, const HttpReplyLimits& limits = {},
            std::optional<Json> awaited = {});

  void on_head(const HttpHead& head) override;
  Wants on_body(std::string_view bytes) override;
  /// Call when the exchange is complete: reads a JSON message.
  void finish();

  /// 0 before the head.
  int status() const noexcept { return status_; }
  bool accepted() const noexcept { return status_ >= 200 && status_ < 300; }
  bool is_stream() const noexcept { return form_ == Form::stream; }
  /// The session id from the head, or "".
  const std::string& session_id() const noexcept { return session_id_; }
  /// Why the response can't be read further, or has no message; "" if nothing is wrong.
  const std::string& problem() const noexcept { return problem_; }
  /// The explanation in a refusal, for people; may be "".
  std::string refusal() const;
  /// The Retry-After header; "" for none.
  const std::string& retry_after() const noexcept { return retry_after_; }

  /// Where a broken event stream can be resumed ("" for nowhere), and after what delay.
  const std::string& last_event_id() const { return events_.last_event_id(); }
  std::optional<std::chrono::milliseconds> retry() const { return events_.retry(); }

 private:
  enum class Form { none, json, stream, other };

  void take(std::string_view text);
  void fail(std::string why);

  OnMessage on_message_;
  OnBadMessage on_bad_message_;
  HttpReplyLimits limits_;
  std::optional<Json> awaited_;
  SseParser events_;
  int status_ = 0;
  Form form_ = Form::none;
  std::string type_;
  std::string session_id_;
  std::string retry_after_;
  std::string body_;  ///< body of JSON responses and refusals
  std::size_t bytes_ = 0;
  int bad_messages_ = 0;
  bool enough_ = false;
  std::string problem_;
};

/// A server that is reached over streamable HTTP.
struct HttpServer {
  Url url{};                   ///< its path is the whole target, query included
  std::string bearer_token{};  ///< "" for none; only sent to this origin
};

/// Reads the address of a server: https, or http to loopback; path and query stay unchanged.
/// @throws InputError
Url parse_server_url(std::string_view text);

/// Whether a foreign value may be sent as a header value: visible ASCII only.
bool is_visible_ascii(std::string_view text);

using MakeHttp = std::function<std::unique_ptr<Http>()>;

/// The common headers of the requests to one server, and the connections to it. Thread-safe.
class HttpSession {
 public:
  HttpSession(HttpServer server, MakeHttp make_http);

  /// Sets the session id from the answer to `initialize`; "" for none.
  /// @return  false, with nothing set, if it can't be sent back as a header
  bool begin(const std::string& session_id);
  /// Sets the protocol version to send as a header from now on.
  void agree(const std::string& protocol_version);
  bool has_id() const;
  bool has_token() const noexcept { return !server_.bearer_token.empty(); }
  /// Whether the token is valid in a header.
  bool can_be_sent() const;
  /// "https://host/mcp" without the query, which may contain a key.
  std::string name() const;

  /// Sends a message to the server.
  HttpResult post(std::string_view message, bool repeatable, const HttpLimits& limits,
                  HttpReply& reply, std::stop_token stop);
  /// Opens an event stream, or resumes one after that event.
  HttpResult get(const std::string& last_event_id, const HttpLimits& limits, HttpReply& reply,
                 std::stop_token stop);
  /// Ends the session.
  HttpResult remove(const HttpLimits& limits, HttpReply& reply, std::stop_token stop);

 private:
  HttpResult send(HttpRequest request, const HttpLimits& limits, HttpReply& reply,
                  std::stop_token stop);
  HttpHeaders common_headers() const;

  const HttpServer server_;
  const MakeHttp make_http_;
  mutable std::mutex mutex_;
  std::string id_;
  std::string version_;
  std::vector<std::unique_ptr<Http>> idle_;  ///< each keeps its connection open
};

}  // namespace sortie::mcp
