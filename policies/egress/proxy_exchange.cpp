// How a session of the proxy forwards one plain request and its response.
#include "policies/egress/proxy_session.h"

namespace sortie {

bool ProxySession::step_exchange(Time now) {
  bool moved = step_request_body();
  if (stage_ != Stage::exchange) return moved;
  if (!bodies_.response_head) moved |= step_response_head();
  if (stage_ == Stage::exchange && bodies_.response_head) moved |= step_response_body();
  if (stage_ == Stage::exchange && bodies_.response && bodies_.response->is_done()) {
    finish_exchange(now);
    return true;
  }
  return moved;
}

bool ProxySession::step_request_body() {
  if (bodies_.request->is_done() || to_server_.size() >= kQueueBytes || server_.write_failed())
    return false;
  std::string content;
  const std::size_t used = bodies_.request->feed(from_client_.bytes(), content);
  from_client_.drop(used);
  append_framed(request_.body, content, to_server_.tail());
  if (bodies_.request->is_done()) append_body_end(request_.body, to_server_.tail());
  if (bodies_.request->is_malformed() || (client_.read_ended() && !bodies_.request->is_done())) {
    break_off("the request's body is malformed or cut short");
    return true;
  }
  return used > 0;
}

bool ProxySession::step_response_head() {
  const auto bytes = from_server_.bytes();
  const HeadEnd head = find_head_end(bytes.substr(0, kLongestResponseHead));
  const auto now = std::chrono::steady_clock::now();
  if (head.found == HeadEnd::Found::incomplete) {
    if (bytes.size() >= kLongestResponseHead)
      fail(502, "the head of the server's response is too long", now);
    else if (server_.read_ended())
      fail(502, "the server closed the connection without a response", now);
    else
      return false;
    return true;
  }
  auto read = read_server_response(
      head.found == HeadEnd::Found::complete ? bytes.substr(0, head.size) : std::string_view(),
      request_.method);
  from_server_.drop(head.size);
  if (const auto* problem = std::get_if<std::string>(&read)) {
    fail(502, *problem, now);
    return true;
  }
  auto& response = std::get<ServerResponse>(read);
  if (response.is_interim()) {
    if (!request_.old_version) to_client_.append(returned_head(response, {}, true));
    return true;
  }
  if (upstream_ && response.status == 407) {
    fail(502, kAhead + " refused the request: " + refusal_words(response.status), now);
    return true;
  }
  const bool definite = response.body.kind != BodyFraming::Kind::until_close;
  bodies_.returned = response.body;
  if (request_.old_version && bodies_.returned.kind == BodyFraming::Kind::chunked)
    bodies_.returned.kind = BodyFraming::Kind::until_close;
  bodies_.keep_alive = request_.keep_alive && definite && bodies_.request->is_done();
  to_client_.append(returned_head(response, bodies_.returned, bodies_.keep_alive));
  bodies_.response_head = std::move(response);
  bodies_.response.emplace(bodies_.response_head->body);
  return true;
}

bool ProxySession::step_response_body() {
  if (bodies_.response->is_done() || to_client_.size() >= kQueueBytes) return false;
  std::string content;
  const std::size_t used = bodies_.response->feed(from_server_.bytes(), content);
  from_server_.drop(used);
  append_framed(bodies_.returned, content, to_client_.tail());
  if (bodies_.response->is_done()) append_body_end(bodies_.returned, to_client_.tail());
  // The rest of the queue is then an incomplete element.
  const bool ended = server_.read_ended() && used == 0 && !bodies_.response->is_done();
  if (bodies_.response->is_malformed() ||
      (ended && (server_.read_failed() || !bodies_.response->finish()))) {
    break_off("the server's response is malformed or cut short");
    return true;
  }
  return used > 0 || bodies_.response->is_done();
}

void ProxySession::finish_exchange(Time now) {
  close_record("");
  server_ = Peer();
  to_server_.clear();
  from_server_.clear();
  if (bodies_.keep_alive && bodies_.request->is_done()) {
    stage_ = Stage::head;
    waits_for_next_ = from_client_.empty();
    deadline_ = now + (waits_for_next_ ? services_.limits.idle : services_.limits.head);
  } else {
    stage_ = Stage::farewell;
    touch(now);
  }
}

}  // namespace sortie
