// Whatever a client sends as a request's head: read or refused, and what goes on to the server is
// itself one request that is read in the same way.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/http1/body_reader.h"
#include "policies/egress/http/proxy_messages.h"

using namespace sortie;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// The forwarded head, asked for once more through a proxy, leads to the same place.
void check_forwarded(const ProxyRequest& request) {
  std::string head = forwarded_head(request);
  const HeadEnd end = find_head_end(head);
  require(end.found == HeadEnd::Found::complete && end.size == head.size());
  // Ours are added to it: a head that was at the limit would be past it.
  if (request.target == "*" || request.fields.size() > 100) return;
  const std::size_t target = request.method.size() + 1;
  head.insert(target, "http://" + authority_text(request.place.host, request.place.port));
  const auto again = read_proxy_request(head);
  const auto* read = std::get_if<ProxyRequest>(&again);
  require(read != nullptr);
  require(read->place.host == request.place.host && read->place.port == request.place.port);
  require(read->method == request.method && read->target == request.target);
  require(read->body == request.body);
}

void check_body(const BodyFraming& framing, std::string_view bytes) {
  std::string whole;
  BodyReader at_once(framing);
  const std::size_t used = at_once.feed(bytes, whole);
  require(used <= bytes.size() && whole.size() <= used);
  std::string pieces;
  std::string held;
  BodyReader by_bytes(framing);
  for (const char byte : bytes) {
    held += byte;
    held.erase(0, by_bytes.feed(held, pieces));
  }
  require(pieces == whole || at_once.is_malformed());
  require(by_bytes.is_done() == at_once.is_done());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const HeadEnd end = find_head_end(text);
  const auto head = text.substr(0, end.size);
  const auto rest = text.substr(end.size);
  const auto read = read_proxy_request(head);
  require(end.found == HeadEnd::Found::complete || std::holds_alternative<RequestRefusal>(read));
  if (const auto* request = std::get_if<ProxyRequest>(&read)) {
    if (request->form == ProxyRequest::Form::absolute) check_forwarded(*request);
    check_body(request->body, rest);
  }
  read_server_response(head, "GET");
  check_body({BodyFraming::Kind::chunked}, rest);
  read_host(text);
  return 0;
}
