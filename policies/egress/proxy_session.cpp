#include "policies/egress/proxy_session.h"

#include <poll.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kFarewell = 2s;

const char* phrase_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden by network.allow of the policy";
    case 408:
      return "Request Timeout";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Refused";
  }
}

}  // namespace

ProxySession::ProxySession(Fd client, ProxyServices& services, Time now)
    : services_(services),
      deadline_(now + services.limits.head),
      client_(std::move(client)),
      started_(now) {}

bool ProxySession::reads_client() const {
  if (client_.read_ended()) return false;
  switch (stage_) {
    case Stage::head:
      return from_client_.size() <= kLongestRequestHead;
    case Stage::tunnel:
      return to_server_.size() < kQueueBytes;
    case Stage::exchange:
      return !bodies_.request->is_done() && from_client_.size() < kQueueBytes &&
             to_server_.size() < kQueueBytes;
    case Stage::farewell:
      return true;
    default:
      return false;
  }
}

bool ProxySession::reads_server() const {
  if (server_.read_ended() || to_client_.size() >= kQueueBytes) return false;
  if (stage_ == Stage::exchange || stage_ == Stage::upstream)
    return from_server_.size() <= kLongestResponseHead;
  return stage_ == Stage::tunnel;
}

ProxySession::Wanted ProxySession::wanted() const {
  Wanted wanted;
  if (stage_ == Stage::connect && connector_) {
    wanted.server = connector_->descriptor();
    wanted.server_events = POLLOUT;
    return wanted;
  }
  wanted.client_events =
      static_cast<short>((reads_client() ? POLLIN : 0) | (to_client_.empty() ? 0 : POLLOUT));
  if (server_.socket())
    wanted.server_events =
        static_cast<short>((reads_server() ? POLLIN : 0) | (to_server_.empty() ? 0 : POLLOUT));
  // Without events the descriptor is left out: poll(2) would keep reporting its end.
  if (wanted.client_events != 0) wanted.client = client_.socket().get();
  if (wanted.server_events != 0) wanted.server = server_.socket().get();
  return wanted;
}

ProxySession::Time ProxySession::deadline() const {
  return stage_ == Stage::connect && connector_ ? std::min(deadline_, connector_->next_time())
                                                : deadline_;
}

void ProxySession::touch(Time now) {
  const bool says_farewell = stage_ == Stage::farewell && !client_.write_ended();
  if (stage_ == Stage::tunnel || stage_ == Stage::exchange || says_farewell)
    deadline_ = now + services_.limits.idle;
}

void ProxySession::on_ready(short client_events, short server_events, Time now) {
  if (stage_ == Stage::connect) return connect(now);
  bool moved = false;
  if (client_events != 0 && reads_client()) {
    // On a reused connection the time for a head counts from its first byte.
    if (waits_for_next_) deadline_ = now + services_.limits.head;
    waits_for_next_ = false;
    moved |= client_.read_into(stage_ == Stage::tunnel ? to_server_ : from_client_);
  }
  if (server_events != 0 && reads_server())
    moved |= server_.read_into(stage_ == Stage::tunnel ? to_client_ : from_server_);
  if (moved || ((client_events | server_events) & POLLOUT) != 0) touch(now);
  work(now);
}

void ProxySession::work(Time now) {
  bool moved = true;
  while (moved && stage_ != Stage::over) {
    moved = step(now);
    if (stage_ == Stage::over) return;
    moved |= client_.write_from(to_client_);
    if (server_.socket()) moved |= server_.write_from(to_server_);
    if (client_.write_failed()) return break_off("the command closed the connection");
    // It may still have answered: its bytes are forwarded.
    if (server_.write_failed()) to_server_.clear();
  }
}

bool ProxySession::step(Time now) {
  switch (stage_) {
    case Stage::head:
      return step_head(now);
    case Stage::upstream:
      return step_upstream(now);
    case Stage::tunnel:
      return step_tunnel();
    case Stage::exchange:
      return step_exchange(now);
    case Stage::farewell:
      return step_farewell(now);
    default:
      return false;
  }
}

bool ProxySession::step_head(Time now) {
  const auto bytes = from_client_.bytes();
  const HeadEnd head = find_head_end(bytes.substr(0, kLongestRequestHead));
  if (head.found == HeadEnd::Found::incomplete && bytes.size() < kLongestRequestHead) {
    if (!client_.read_ended()) return false;
    end("");
    return true;
  }
  record_ = {};
  started_ = now;
  if (++services_.requests > services_.limits.requests) {
    const std::string reason = "this run has made too many requests; no more are served";
    services_.requests == services_.limits.requests + 1 ? deny(503, reason, now)
                                                        : answer(503, reason, now);
    return true;
  }
  if (head.found == HeadEnd::Found::incomplete) {
    deny(431, "the request's head is longer than 16 KiB", now);
    return true;
  }
  if (head.found == HeadEnd::Found::malformed) {
    deny(400, "the request's lines have to end with CR and LF", now);
    return true;
  }
  auto read = read_proxy_request(bytes.substr(0, head.size));
  from_client_.drop(head.size);
  if (const auto* refusal = std::get_if<RequestRefusal>(&read))
    deny(refusal->status, refusal->reason, now);
  else
    take_request(std::get<ProxyRequest>(std::move(read)), now);
  return true;
}

void ProxySession::take_request(ProxyRequest request, Time now) {
  request_ = std::move(request);
  const auto& [host, port] = request_.place;
  record_.host = host.name;
  record_.port = port;
  record_.method = request_.method;
  decision_ = services_.rules.decide(host, port);
  record_.would_allow = decision_.would_allow;
  if (!decision_.allowed) return deny(403, decision_.reason, now);
  record_.rule = decision_.rule;
  deadline_ = now + services_.limits.connect;
  hop_bytes_.sent = hop_bytes_.received = 0;
  try {
    upstream_ = upstream_to(services_.ahead, request_.place, request_.form);
  } catch (const InputError& error) {
    return fail(502, error.what(), now);
  }
  if (upstream_) return go_upstream(now);
  if (host.address) return check_addresses({*host.address}, now);
  look_up(host);
}

void ProxySession::look_up(const Host& host) {
  lookup_id_ = ++services_.lookups;
  stage_ = Stage::lookup;
  services_.lookup.start(lookup_id_, host.name);
}

void ProxySession::on_answer(NameLookup::Answer answer, Time now) {
  lookup_id_ = 0;
  if (answer.addresses.empty()) {
    fail(502,
         (upstream_ ? kAhead : request_.place.host.name) + " can't be found: " + answer.problem,
         now);
  } else if (upstream_) {
    connect_to(std::move(answer.addresses), upstream_->port, now);
  } else {
    check_addresses(std::move(answer.addresses), now);
  }
  work(now);
}

/// Checks the addresses of one lookup and connects to those that pass: the name is never looked up
/// again.
void ProxySession::check_addresses(std::vector<IpAddress> addresses, Time now) {
  const auto& place = request_.place;
  std::string first_refusal;
  std::erase_if(addresses, [&](const IpAddress& address) {
    const std::string refusal = services_.rules.refusal(decision_, place.host, place.port, address);
    if (first_refusal.empty()) first_refusal = refusal;
    return !refusal.empty();
  });
  if (addresses.empty()) {
    record_.rule.clear();
    return deny(403, first_refusal, now);
  }
  connect_to(std::move(addresses), place.port, now);
}

/// Only the upstream proxy resolves names; an address is checked as usual.
void ProxySession::go_upstream(Time now) {
  const auto& place = request_.place;
  if (place.host.address) {
    const std::string refusal =
        services_.rules.refusal(decision_, place.host, place.port, *place.host.address);
    if (!refusal.empty()) {
      record_.rule.clear();
      return deny(403, refusal, now);
    }
  }
  if (!upstream_->host.address) return look_up(upstream_->host);
  connect_to({*upstream_->host.address}, upstream_->port, now);
}

/// Reports an allowed connection, before it has any effect. False when it could not be.
bool ProxySession::open() {
  record_.id = services_.requests;
  record_.state = EgressConnection::State::opened;
  try {
    services_.report(record_);
  } catch (const std::exception&) {
    return false;
  }
  open_ = true;
  return true;
}

void ProxySession::connect_to(std::vector<IpAddress> addresses, std::uint16_t port, Time now) {
  record_.address = addresses.front().text();
  if (!open()) return answer(500, "the connection could not be recorded", now);
  stage_ = Stage::connect;
  connector_.emplace(std::move(addresses), port, deadline_);
  connect(now);
}

void ProxySession::connect(Time now) {
  switch (connector_->advance(now)) {
    case Connector::Outcome::pending:
      return;
    case Connector::Outcome::connected:
      record_.address = connector_->address().text();
      server_ = Peer(connector_->take_socket());
      connector_.reset();
      on_connected(now);
      break;
    case Connector::Outcome::failed: {
      const bool late = connector_->timed_out();
      const std::string problem = connector_->problem();
      connector_.reset();
      const auto& [host, port] = request_.place;
      fail(late ? 504 : 502,
           (upstream_ ? kAhead : authority_text(host, port)) + " can't be reached: " + problem,
           now);
    }
  }
  work(now);
}

void ProxySession::on_connected(Time now) {
  if (!upstream_ || request_.form != ProxyRequest::Form::tunnel) return begin(now);
  stage_ = Stage::upstream;
  from_server_.clear();
  to_server_.append(connect_head(request_.place, *upstream_));
}

/// The upstream proxy's answer to CONNECT. The command gets only the status of a refusal.
bool ProxySession::step_upstream(Time now) {
  const auto bytes = from_server_.bytes();
  const HeadEnd head = find_head_end(bytes.substr(0, kLongestResponseHead));
  if (head.found == HeadEnd::Found::incomplete && bytes.size() < kLongestResponseHead &&
      !server_.read_ended())
    return false;
  const auto read = read_server_response(
      head.found == HeadEnd::Found::complete ? bytes.substr(0, head.size) : std::string_view(),
      "HEAD");
  const auto* response = std::get_if<ServerResponse>(&read);
  if (response == nullptr) {
    fail(502, kAhead + " gave no answer that can be read", now);
    return true;
  }
  from_server_.drop(head.size);
  if (response->is_interim()) return true;
  if (response->status >= 300) {
    fail(502, kAhead + " refused the tunnel: " + refusal_words(response->status), now);
    return true;
  }
  hop_bytes_.sent = server_.written_bytes();
  hop_bytes_.received = server_.read_bytes() - from_server_.size();
  const std::string early(from_server_.bytes());
  from_server_.clear();
  begin(now);
  to_client_.append(early);
  return true;
}

void ProxySession::begin(Time now) {
  if (request_.form == ProxyRequest::Form::tunnel) {
    stage_ = Stage::tunnel;
    to_client_.append("HTTP/1.1 200 Connection established\r\n\r\n");
    // Bytes that the client sent before the answer are for the server.
    to_server_.append(from_client_.bytes());
    from_client_.clear();
  } else {
    stage_ = Stage::exchange;
    to_server_.append(upstream_ ? forwarded_head_to_proxy(request_, upstream_->authorization)
                                : forwarded_head(request_));
    bodies_.request.emplace(request_.body);
    bodies_.response_head.reset();
    bodies_.response.reset();
    from_server_.clear();
  }
  touch(now);
}

bool ProxySession::step_tunnel() {
  if (client_.read_failed()) {
    break_off("the command broke the connection off");
    return true;
  }
  if (server_.read_failed() && to_client_.empty()) {
    break_off("the server broke the connection off");
    return true;
  }
  bool moved = false;
  if (client_.read_ended() && to_server_.empty() && !server_.write_ended()) {
    server_.end_writing();
    moved = true;
  }
  if (server_.read_ended() && to_client_.empty() && !client_.write_ended()) {
    client_.end_writing();
    moved = true;
  }
  if (client_.write_ended() && server_.write_ended()) {
    end("");
    moved = true;
  }
  return moved;
}

/// Sends the rest, then reads and drops further input, since closing with unread input would
/// discard the answer too (RFC 9112 §9.6).
bool ProxySession::step_farewell(Time now) {
  from_client_.clear();
  if (client_.read_ended() && to_client_.empty()) {
    end("");
    return true;
  }
  if (!to_client_.empty() || client_.write_ended()) return false;
  client_.end_writing();
  deadline_ = now + kFarewell;
  return true;
}

void ProxySession::deny(int status, const std::string& reason, Time now) {
  record_.state = EgressConnection::State::denied;
  record_.id = services_.requests;
  record_.reason = reason;
  record_.duration = std::chrono::duration_cast<milliseconds>(now - started_);
  try {
    services_.report(record_);
  } catch (const std::exception&) {
    // It is denied anyway; the recorder has noticed.
  }
  answer(status, reason, now);
}

void ProxySession::fail(int status, const std::string& reason, Time now) {
  if (!open_) open();  // it was allowed, but never connected
  close_record(reason);
  server_ = Peer();
  answer(status, reason, now);
}

void ProxySession::answer(int status, const std::string& reason, Time now) {
  const std::string body = "sortie: " + one_line(reason, 1000) + "\n";
  to_server_.clear();
  from_server_.clear();
  to_client_.append("HTTP/1.1 " + std::to_string(status) + " " + phrase_of(status) +
                    "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n");
  if (request_.method != "HEAD") to_client_.append(body);
  stage_ = Stage::farewell;
  touch(now);
}

/// Aborts a transfer: both sides have to see that it is incomplete.
void ProxySession::break_off(const std::string& reason) {
  close_record(reason);
  client_.abort();
  server_.abort();
  stage_ = Stage::over;
}

void ProxySession::close_record(const std::string& reason) {
  if (!open_) return;
  open_ = false;
  record_.state = EgressConnection::State::closed;
  record_.reason = reason;
  if (stage_ != Stage::upstream) {
    record_.sent_bytes = server_.written_bytes() - hop_bytes_.sent;
    record_.received_bytes = server_.read_bytes() - hop_bytes_.received;
  }
  record_.duration =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - started_);
  try {
    services_.report(record_);
  } catch (const std::exception&) {
    // It is over; the recorder has noticed.
  }
}

void ProxySession::end(const std::string& reason) {
  close_record(reason);
  client_.close();
  server_.close();
  stage_ = Stage::over;
}

void ProxySession::on_time(Time now) {
  if (stage_ == Stage::connect && now < deadline_) return connect(now);
  if (now < deadline_) return;
  switch (stage_) {
    case Stage::head:
      if (waits_for_next_ || from_client_.empty()) return end("");
      record_ = {};
      ++services_.requests;
      deny(408, "no whole request came in time", now);
      break;
    case Stage::lookup:
      lookup_id_ = 0;
      fail(504, (upstream_ ? kAhead : request_.place.host.name) + ": looking it up takes too long",
           now);
      break;
    case Stage::upstream:
      fail(504, kAhead + " does not answer", now);
      break;
    case Stage::connect:
      return connect(now);
    case Stage::tunnel:
    case Stage::exchange:
      return break_off("nothing was sent for too long");
    default:
      return end("");
  }
  work(now);
}

}  // namespace sortie
