#include "policies/egress/http/server_response.h"

namespace sortie {
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
