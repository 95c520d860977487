#include "tools/mcp/transport/http_session.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace sortie::mcp {
namespace {

constexpr std::size_t kMaxSessionId = 4096;
constexpr std::size_t kMaxIdle = 4;

/// A token read from a file usually ends with a newline.
HttpServer without_line_end(HttpServer server) {
  std::string& token = server.bearer_token;
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  return server;
}

}  // namespace

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
