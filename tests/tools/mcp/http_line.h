#pragma once

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "core/net/http_client.h"
#include "tests/support/loopback_http.h"
#include "tests/tools/mcp/recording_receiver.h"
#include "tools/mcp/transport/http_transport.h"

namespace sortie::test {

inline mcp::HttpTransportLimits quick_limits() {
  mcp::HttpTransportLimits limits;
  limits.exchange.retry = std::chrono::milliseconds(10);
  limits.exchange.shortest_retry = std::chrono::milliseconds(1);
  limits.exchange.notification = std::chrono::seconds(5);
  limits.exchange.request = std::chrono::seconds(60);
  return limits;
}

/// A transport to a server, open.
struct Line {
  explicit Line(const std::string& url, const mcp::HttpTransportLimits& limits = quick_limits(),
                mcp::HttpServer server = {})
      : transport(
            at(url, std::move(server)), [] { return std::make_unique<HttpClient>(); }, limits) {
    transport.open(receiver, mcp::Transport::Deadline::max(), {});
  }
  static mcp::HttpServer at(const std::string& url, mcp::HttpServer server) {
    server.url = mcp::parse_server_url(url);
    return server;
  }
  void close() { transport.close(std::chrono::steady_clock::now() + std::chrono::seconds(30)); }

  RecordingReceiver receiver;
  mcp::HttpTransport transport;
};

inline ServedResponse json(const std::string& body, const HttpHeaders& more = {}) {
  HttpHeaders headers{{"Content-Type", "application/json"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return served_status(200, headers, body);
}

/// An event stream that goes on, or ends.
inline ServedResponse stream(const std::string& events, ServedResponse::Then then) {
  return {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events,
          .then = then};
}

inline ServedResponse accepted() { return served_status(202, {}, ""); }
inline ServedResponse none() { return served_status(405, {}, ""); }

inline std::string answer(int id, const std::string& result = R"({"ok":true})") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + result + "}";
}

inline mcp::Message answer_message(int id) {
  return mcp::result_reply(id, Json::object({{"ok", true}}));
}

inline bool is_get(const ReceivedRequest& request) { return request.line.starts_with("GET"); }
inline bool has(const ReceivedRequest& request, const std::string& text) {
  return request.body.find(text) != std::string::npos;
}

/// The text that a single request to such a server fails with.
inline std::string failure_of(LoopbackHttp::Handler handler,
                              mcp::HttpTransportLimits limits = quick_limits(),
                              const std::string& method = "tools/call") {
  LoopbackHttp server(std::move(handler));
  Line line(server.url(), limits);
  line.transport.send(mcp::request(1, method));
  const auto failures = line.receiver.wait_for_failures();
  BOOST_TEST(line.receiver.messages().size() == 0U);
  BOOST_TEST(line.receiver.closings().size() == 0U);
  return failures.at(0);
}

}  // namespace sortie::test
