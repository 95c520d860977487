#include "tools/mcp/transport/http_session.h"

#include <strings.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie::mcp {
namespace {

/// Bytes that are read of a refusal.
constexpr std::size_t kMaxRefusal = 64u << 10;
constexpr std::size_t kShownRefusal = 300;

/// "Text/HTML" from "Text/HTML; charset=utf-8".
std::string media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return std::string(type);
}

bool is_type(const std::string& type, const char* name) {
  return ::strcasecmp(type.c_str(), name) == 0;
}

constexpr std::size_t kMaxSessionId = 4096;
constexpr std::size_t kMaxIdle = 4;

/// A token read from a file usually ends with a newline.
HttpServer without_line_end(HttpServer server) {
  std::string& token = server.bearer_token;
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  return server;
}

}  // namespace

HttpReply::HttpReply(OnMessage on_message, OnBadMessage on_bad_message,
                     const HttpReplyLimits& limits, std::optional<Json> awaited)
    : on_message_(std::move(on_message)),
      on_bad_message_(std::move(on_bad_message)),
      limits_(limits),
      awaited_(std::move(awaited)),
      events_(limits.message.max_bytes) {}

void HttpReply::on_head(const HttpHead& head) {
  status_ = head.status;
  session_id_ = header_value(head.headers, "Mcp-Session-Id");
  retry_after_ = header_value(head.headers, "Retry-After");
  type_ = media_type(header_value(head.headers, "Content-Type"));
  if (is_type(type_, "application/json")) {
    form_ = Form::json;
  } else if (is_type(type_, "text/event-stream") && accepted()) {
    form_ = Form::stream;
  } else if (!type_.empty()) {
    form_ = Form::other;
  }
}

HttpSink::Wants HttpReply::on_body(std::string_view bytes) {
  if (form_ != Form::stream) {
    // Other bodies may be cut: those of refusals, and those that are not messages.
    const bool is_message = form_ == Form::json && accepted();
    const std::size_t limit = is_message ? limits_.message.max_bytes : kMaxRefusal;
    if (body_.size() + bytes.size() > limit) {
      if (is_message) fail("a message is longer than " + std::to_string(limit) + " bytes");
      body_.append(bytes.substr(0, limit - body_.size()));
      return Wants::enough;
    }
    body_.append(bytes);
    return Wants::more;
  }
  bytes_ += bytes.size();
  try {
    events_.feed(bytes, [this](const SseEvent& event) {
      const bool is_message = event.name.empty() || event.name == "message";
      // An event without data only sets the stream's id.
      if (is_message && !event.data.empty() && !enough_) take(event.data);
    });
  } catch (const SseError& error) {
    fail(error.what());
  }
  if (bytes_ > limits_.stream_bytes && !enough_)
    fail("the stream is longer than " + std::to_string(limits_.stream_bytes) + " bytes");
  return enough_ ? Wants::enough : Wants::more;
}

void HttpReply::finish() {
  if (!accepted() || enough_ || form_ == Form::stream) return;
  if (form_ == Form::json && !body_.empty()) {
    take(body_);
  } else if (!body_.empty()) {
    fail("the server answers with " +
         (type_.empty() ? "a body without a content type"
                        : "'" + one_line_of_words(type_, 80) + "'") +
         ", not with JSON or an event stream");
  }
}

void HttpReply::take(std::string_view text) {
  try {
    for (Message& message : parse_messages(text, limits_.message))
      if (on_message_(std::move(message)) == Wants::enough) enough_ = true;
  } catch (const RpcFormatError& error) {
    const std::string why = std::string("the server sent an invalid message: ") + error.what();
    on_bad_message_(why);
    const BrokenMessage broken = inspect_broken(text);
    const bool is_awaited =
        awaited_ && broken.is_reply && (broken.id.is_null() || broken.id == *awaited_);
    if (form_ == Form::json || is_awaited) fail(why);
    if (++bad_messages_ >= limits_.bad_messages)
      fail("the server sent " + std::to_string(bad_messages_) + " invalid messages");
  }
}

std::string HttpReply::refusal() const {
  std::string text = body_;
  if (form_ == Form::json) {
    try {
      const Json json = parse_json(body_);
      const Json& error = json["error"];
      if (error["message"].is_string()) {
        text = error["message"].text();
      } else if (error.is_string()) {
        text = error.text();
        const std::string more = json.string_at("error_description");
        if (!more.empty()) text += ": " + more;
      } else {
        text = json.string_at("message", body_);
      }
    } catch (const JsonError&) {
      // Shown as it is, then.
    }
  } else if (form_ == Form::other && !is_type(type_, "text/plain")) {
    return "";  // A page is for a browser.
  }
  while (text.ends_with('\n')) text.pop_back();
  return one_line_of_words(text, kShownRefusal);
}

void HttpReply::fail(std::string why) {
  enough_ = true;
  if (problem_.empty()) problem_ = std::move(why);
}

Url parse_server_url(std::string_view text) {
  const std::size_t mark = text.find('?');
  const std::string_view place = text.substr(0, mark);
  const std::string_view query = mark == std::string_view::npos ? "" : text.substr(mark);
  if (!is_visible_ascii(query) && !query.empty())
    throw InputError("address: the query contains blanks, control or non-ASCII characters");
  if (query.find('#') != std::string_view::npos)
    throw InputError("address: a fragment is not allowed");
  Url url = parse_url(place);
  if (!url.secure && !url.is_loopback())
    throw InputError("address '" + url.text() +
                     "': plain http is only allowed for loopback hosts; use https://");
  // /mcp and /mcp/ may be different resources.
  if (place.ends_with('/')) url.path += '/';
  if (!query.empty() && url.path.empty()) url.path = "/";
  url.path += query;
  return url;
}

bool is_visible_ascii(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

HttpSession::HttpSession(HttpServer server, MakeHttp make_http)
    : server_(without_line_end(std::move(server))), make_http_(std::move(make_http)) {}

bool HttpSession::begin(const std::string& session_id) {
  if (!session_id.empty() && (!is_visible_ascii(session_id) || session_id.size() > kMaxSessionId))
    return false;
  const std::lock_guard lock(mutex_);
  id_ = session_id;
  return true;
}

void HttpSession::agree(const std::string& protocol_version) {
  const std::lock_guard lock(mutex_);
  if (is_visible_ascii(protocol_version)) version_ = protocol_version;
}

bool HttpSession::has_id() const {
  const std::lock_guard lock(mutex_);
  return !id_.empty();
}

bool HttpSession::can_be_sent() const {
  return !has_token() || is_visible_ascii(server_.bearer_token);
}

std::string HttpSession::name() const {
  Url url = server_.url;
  url.path.resize(std::min(url.path.find('?'), url.path.size()));
  return url.text();
}

HttpHeaders HttpSession::common_headers() const {
  HttpHeaders headers;
  if (has_token()) headers.emplace_back("Authorization", "Bearer " + server_.bearer_token);
  headers.emplace_back("User-Agent", "sortie/" SORTIE_VERSION);
  const std::lock_guard lock(mutex_);
  if (!id_.empty()) headers.emplace_back("Mcp-Session-Id", id_);
  if (!version_.empty()) headers.emplace_back("MCP-Protocol-Version", version_);
  return headers;
}

HttpResult HttpSession::post(std::string_view message, bool repeatable, const HttpLimits& limits,
                             HttpReply& reply, std::stop_token stop) {
  HttpRequest request{.headers = common_headers(), .body = message, .repeatable = repeatable};
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Accept", "application/json, text/event-stream");
  return send(std::move(request), limits, reply, std::move(stop));
}

HttpResult HttpSession::get(const std::string& last_event_id, const HttpLimits& limits,
                            HttpReply& reply, std::stop_token stop) {
  HttpRequest request{.method = "GET", .headers = common_headers(), .repeatable = false};
  request.headers.emplace_back("Accept", "text/event-stream");
  if (!last_event_id.empty()) request.headers.emplace_back("Last-Event-ID", last_event_id);
  return send(std::move(request), limits, reply, std::move(stop));
}

HttpResult HttpSession::remove(const HttpLimits& limits, HttpReply& reply, std::stop_token stop) {
  return send({.method = "DELETE", .headers = common_headers(), .repeatable = false}, limits, reply,
              std::move(stop));
}

HttpResult HttpSession::send(HttpRequest request, const HttpLimits& limits, HttpReply& reply,
                             std::stop_token stop) {
  request.url = server_.url;
  std::unique_ptr<Http> http;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      http = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!http) http = make_http_();
  HttpResult result = http->send(request, limits, reply, std::move(stop));
  if (result.ending == HttpResult::Ending::complete) reply.finish();
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(http));
  return result;
}

}  // namespace sortie::mcp
