// How a session of the proxy forwards one plain request and its response.
#include "policies/egress/proxy_session.h"

namespace sortie {

bool ProxySession::step_exchange(Time now) {
  bool moved = step_request_body();
  if (stage_ != Stage::exchange) return moved;
  if (!response_) moved |= step_response_head();
  if (stage_ == Stage::exchange && response_) moved |= step_response_body();
  if (stage_ == Stage::exchange && response_body_ && response_body_->is_done()) {
    finish_exchange(now);
    return true;
  }
  return moved;
}

bool ProxySession::step_request_body() {
  if (request_body_->is_done() || to_server_.size() >= kQueueBytes || server_.write_failed())
    return false;
  std::string content;
  const std::size_t used = request_body_->feed(from_client_.bytes(), content);
  from_client_.drop(used);
  append_framed(request_.body, content, to_server_.tail());
  if (request_body_->is_done()) append_body_end(request_.body, to_server_.tail());
  if (request_body_->is_malformed() || (client_.read_ended() && !request_body_->is_done())) {
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
  returned_ = response.body;
  if (request_.old_version && returned_.kind == BodyFraming::Kind::chunked)
    returned_.kind = BodyFraming::Kind::until_close;
  keep_alive_ = request_.keep_alive && definite && request_body_->is_done();
  to_client_.append(returned_head(response, returned_, keep_alive_));
  response_ = std::move(response);
  response_body_.emplace(response_->body);
  return true;
}

bool ProxySession::step_response_body() {
  if (response_body_->is_done() || to_client_.size() >= kQueueBytes) return false;
  std::string content;
  const std::size_t used = response_body_->feed(from_server_.bytes(), content);
  from_server_.drop(used);
  append_framed(returned_, content, to_client_.tail());
  if (response_body_->is_done()) append_body_end(returned_, to_client_.tail());
  // The rest of the queue is then an incomplete element.
  const bool ended = server_.read_ended() && used == 0 && !response_body_->is_done();
  if (response_body_->is_malformed() ||
      (ended && (server_.read_failed() || !response_body_->finish()))) {
    break_off("the server's response is malformed or cut short");
    return true;
  }
  return used > 0 || response_body_->is_done();
}

void ProxySession::finish_exchange(Time now) {
  close_record("");
  server_ = Peer();
  to_server_.clear();
  from_server_.clear();
  if (keep_alive_ && request_body_->is_done()) {
    stage_ = Stage::head;
    waits_for_next_ = from_client_.empty();
    deadline_ = now + (waits_for_next_ ? services_.limits.idle : services_.limits.head);
  } else {
    stage_ = Stage::farewell;
    touch(now);
  }
}

}  // namespace sortie
