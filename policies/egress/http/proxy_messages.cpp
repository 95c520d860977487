#include "policies/egress/http/proxy_messages.h"

#include <algorithm>

namespace sortie {
namespace {

constexpr std::size_t kLongestMethod = 32;
constexpr std::size_t kMostFields = 128;

struct StartLine {
  std::string_view method;
  std::string_view target;
  std::string_view version;
};

/// Two blanks, and neither at an end.
bool split_start(std::string_view line, StartLine& start) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  start = {line.substr(0, first), line.substr(first + 1, last - first - 1), line.substr(last + 1)};
  return !start.method.empty() && !start.target.empty() && !start.version.empty();
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

/// Cuts "http://host:port/path?query" into its host and the rest.
RequestRefusal read_absolute(std::string_view target, ProxyRequest& request) {
  constexpr std::string_view kScheme = "http://";
  const std::size_t colon = target.find("://");
  if (target.starts_with('/') || colon == std::string_view::npos)
    return {400, "this is a proxy: ask for http://HOST/PATH, or CONNECT HOST:PORT"};
  if (!equal_ignoring_case(target.substr(0, kScheme.size()), kScheme)) {
    const bool secure = equal_ignoring_case(target.substr(0, colon), "https");
    return {501, secure ? "https goes through CONNECT" : "only http and CONNECT are known here"};
  }
  if (target.find('#') != std::string_view::npos) return {400, "the target has a fragment"};
  const auto rest = target.substr(kScheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  AuthorityReading reading = read_authority(rest.substr(0, end), 80);
  if (!reading.authority) return {400, std::move(reading.problem)};
  request.place = std::move(*reading.authority);
  request.target = rest.substr(end);
  if (request.target.empty() && request.method == "OPTIONS")
    request.target = "*";  // RFC 9112 §3.2.4
  else if (!request.target.starts_with('/'))
    request.target.insert(0, "/");
  return {0, ""};
}

RequestRefusal read_target(std::string_view target, ProxyRequest& request) {
  if (request.method != "CONNECT") {
    request.form = ProxyRequest::Form::absolute;
    return read_absolute(target, request);
  }
  AuthorityReading reading = read_authority(target, 0);
  if (!reading.authority) return {400, std::move(reading.problem)};
  request.place = std::move(*reading.authority);
  return {0, ""};
}

RequestRefusal check_fields(const HttpHeaders& fields, const ProxyRequest& request) {
  const std::size_t hosts = count_headers(fields, "host");
  if (hosts > 1) return {400, "Host is given twice"};
  if (hosts == 0 && !request.old_version && request.form == ProxyRequest::Form::absolute)
    return {400, "Host is missing"};
  if (request.old_version && count_headers(fields, "transfer-encoding") > 0)
    return {400, "HTTP/1.0 has no Transfer-Encoding"};
  // Java's client offers h2c with every request and goes on without it.
  for (const auto& [name, value] : fields) {
    if (equal_ignoring_case(name, "upgrade") && !equal_ignoring_case(value, "h2c"))
      return {501, "another protocol goes through CONNECT, not through Upgrade"};
    if (equal_ignoring_case(name, "expect") && !equal_ignoring_case(value, "100-continue"))
      return {417, "the only expectation that is known is 100-continue"};
  }
  return {0, ""};
}

void drop(HttpHeaders& fields, std::string_view name) {
  std::erase_if(fields, [&](const auto& field) { return equal_ignoring_case(field.first, name); });
}

/// The place as Host has it: without http's own port.
std::string host_field(const ProxyRequest& request) {
  const auto& [host, port] = request.place;
  std::string authority = authority_text(host, port);
  if (port == 80) authority.resize(authority.rfind(':'));
  return authority;
}

/// @param field  one more, CRLF before it
std::string head_for(const ProxyRequest& request, const std::string& target,
                     const std::string& field) {
  std::string head =
      request.method + " " + target + " HTTP/1.1\r\nHost: " + host_field(request) + field;
  for (const auto& [name, value] : request.fields) head += "\r\n" + name + ": " + value;
  if (request.body.kind == BodyFraming::Kind::length)
    head += "\r\nContent-Length: " + std::to_string(request.body.length);
  if (request.body.kind == BodyFraming::Kind::chunked) head += "\r\nTransfer-Encoding: chunked";
  return head + "\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\n";
}

}  // namespace

std::variant<ProxyRequest, RequestRefusal> read_proxy_request(std::string_view head) {
  const HeadEnd end = find_head_end(head);
  if (end.found != HeadEnd::Found::complete || end.size != head.size())
    return RequestRefusal{400, "the request's lines have to end with CR and LF"};
  const std::size_t line_end = head.find("\r\n");
  StartLine start;
  if (!split_start(head.substr(0, line_end), start) || !is_token(start.method) ||
      start.method.size() > kLongestMethod || !is_visible(start.target))
    return RequestRefusal{400, "the request line is malformed"};
  if (start.version != "HTTP/1.1" && start.version != "HTTP/1.0")
    return RequestRefusal{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};

  ProxyRequest request;
  request.method = start.method;
  request.old_version = start.version == "HTTP/1.0";
  if (auto refusal = read_target(start.target, request); refusal.status != 0) return refusal;
  if (auto problem = read_header_lines(head.substr(line_end + 2, head.size() - line_end - 4), {},
                                       request.fields);
      !problem.empty())
    return RequestRefusal{400, std::move(problem)};
  if (request.fields.size() > kMostFields) return RequestRefusal{431, "too many header fields"};
  if (auto refusal = check_fields(request.fields, request); refusal.status != 0) return refusal;
  if (auto problem = read_framing(request.fields, {}, request.body); !problem.empty())
    return RequestRefusal{400, std::move(problem)};
  const bool has_body = request.body.kind == BodyFraming::Kind::chunked || request.body.length > 0;
  if (request.form == ProxyRequest::Form::tunnel && has_body)
    return RequestRefusal{400, "a CONNECT request has no body"};

  request.keep_alive = !request.old_version && !list_has(request.fields, "connection", "close") &&
                       !list_has(request.fields, "proxy-connection", "close");
  remove_hop_by_hop(request.fields);
  drop(request.fields, "host");
  if (request.old_version) drop(request.fields, "expect");
  return request;
}

std::string forwarded_head(const ProxyRequest& request) {
  return head_for(request, request.target, "");
}

std::string forwarded_head_to_proxy(const ProxyRequest& request, std::string_view authorization) {
  const std::string path = request.target == "*" ? "" : request.target;
  std::string field;
  if (!authorization.empty()) field.append("\r\nProxy-Authorization: ").append(authorization);
  return head_for(request, "http://" + host_field(request) + path, field);
}

std::variant<ServerResponse, std::string> read_server_response(std::string_view head,
                                                               std::string_view method) {
  const HeadEnd end = find_head_end(head);
  const std::size_t line_end = head.find("\r\n");
  const StatusLine start = read_status_line(head.substr(0, line_end));
  if (end.found != HeadEnd::Found::complete || end.size != head.size() || start.status == 0)
    return std::string("the server's response is malformed");
  ServerResponse response{.status = start.status, .reason = start.reason};
  if (response.status == 101) return std::string("the server changed to another protocol");
  if (auto problem = read_header_lines(head.substr(line_end + 2, head.size() - line_end - 4), {},
                                       response.fields);
      !problem.empty())
    return "the server's response: " + problem;
  BodyFraming framing;
  if (auto problem = read_framing(response.fields, {}, framing); !problem.empty())
    return "the server's response: " + problem;
  const bool no_body = response.is_interim() || response.status == 204 || response.status == 304;
  const bool of_head = method == "HEAD";
  if (framing.kind == BodyFraming::Kind::none) framing.kind = BodyFraming::Kind::until_close;
  response.body = no_body || of_head ? BodyFraming{} : framing;
  // The length that a GET would have got is passed on; it frames nothing here.
  const std::string length(header_value(response.fields, "content-length"));
  remove_hop_by_hop(response.fields);
  if ((of_head || response.status == 304) && !length.empty())
    response.fields.emplace_back("Content-Length", length);
  return response;
}

std::string returned_head(const ServerResponse& response, const BodyFraming& framing,
                          bool keep_alive) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " + response.reason;
  for (const auto& [name, value] : response.fields) head += "\r\n" + name + ": " + value;
  if (framing.kind == BodyFraming::Kind::length)
    head += "\r\nContent-Length: " + std::to_string(framing.length);
  if (framing.kind == BodyFraming::Kind::chunked) head += "\r\nTransfer-Encoding: chunked";
  if (!response.is_interim()) {
    head += "\r\nVia: 1.1 sortie";
    if (!keep_alive) head += "\r\nConnection: close";
  }
  return head + "\r\n\r\n";
}

}  // namespace sortie
