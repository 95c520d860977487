#include "policies/egress/http/server_response.h"

#include <algorithm>

namespace sortie {
namespace {

/// "HTTP/1.1 200 OK"; the phrase may be missing, with or without its blank.
bool read_status_line(std::string_view line, ServerResponse& response) {
  if (!line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.0 ")) return false;
  line.remove_prefix(9);
  if (line.size() < 3 || (line.size() > 3 && line[3] != ' ')) return false;
  for (const char c : line.substr(0, 3)) {
    if (c < '0' || c > '9') return false;
    response.status = response.status * 10 + (c - '0');
  }
  const auto phrase = line.substr(std::min<std::size_t>(4, line.size()));
  if (std::any_of(phrase.begin(), phrase.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
      }))
    return false;
  response.reason = phrase;
  return response.status >= 100 && response.status <= 999;
}

}  // namespace

std::variant<ServerResponse, std::string> read_server_response(std::string_view head,
                                                               std::string_view method) {
  const HeadEnd end = find_head_end(head);
  const std::size_t line_end = head.find("\r\n");
  ServerResponse response;
  if (end.found != HeadEnd::Found::complete || end.size != head.size() ||
      !read_status_line(head.substr(0, line_end), response))
    return std::string("the server's response is malformed");
  if (response.status == 101) return std::string("the server changed to another protocol");
  if (auto problem =
          read_fields(head.substr(line_end + 2, head.size() - line_end - 4), response.fields);
      !problem.empty())
    return "the server's response: " + problem;
  BodyFraming framing;
  if (auto problem = read_framing(response.fields, framing); !problem.empty())
    return "the server's response: " + problem;
  const bool no_body = response.is_interim() || response.status == 204 || response.status == 304;
  const bool of_head = method == "HEAD";
  if (framing.kind == BodyFraming::Kind::none) framing.kind = BodyFraming::Kind::until_close;
  response.body = no_body || of_head ? BodyFraming{} : framing;
  // What a GET would have got is worth knowing; it frames nothing here.
  const std::string length(field_value(response.fields, "content-length"));
  remove_hop_by_hop(response.fields);
  if ((of_head || response.status == 304) && !length.empty())
    response.fields.push_back({"Content-Length", length});
  return response;
}

std::string returned_head(const ServerResponse& response, const BodyFraming& framing,
                          bool keep_alive) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " + response.reason;
  for (const HttpField& field : response.fields) head += "\r\n" + field.name + ": " + field.value;
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
