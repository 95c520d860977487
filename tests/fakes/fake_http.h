#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/net/http.h"

namespace sortie::test {

/// Answers requests from a list, and keeps what was sent.
class FakeHttp : public Http {
 public:
  struct Reply {
    HttpHead head{};  ///< status 0: none comes
    std::string body{};
    HttpResult result{};
  };
  std::deque<Reply> replies;
  std::vector<std::string> bodies;
  std::vector<HttpHeaders> headers;
  std::vector<HttpLimits> limits;

  HttpResult send(const HttpRequest& request, const HttpLimits& given, HttpSink& sink,
                  std::stop_token stop) override {
    bodies.emplace_back(request.body);
    headers.push_back(request.headers);
    limits.push_back(given);
    if (stop.stop_requested()) return {HttpResult::Ending::stopped, ""};
    if (replies.empty()) return {HttpResult::Ending::no_connection, "the list has ended"};
    const Reply reply = replies.front();
    replies.pop_front();
    if (reply.head.status != 0) sink.on_head(reply.head);
    if (!reply.body.empty() && sink.on_body(reply.body) == HttpSink::Wants::enough)
      return {HttpResult::Ending::complete, ""};
    return reply.result;
  }

  static Reply stream(const std::string& sse) {
    return {.head = {200, {{"Content-Type", "text/event-stream"}}}, .body = sse};
  }
};

}  // namespace sortie::test
