#include "tools/mcp/http_transport.h"

#include <atomic>
#include <boost/test/unit_test.hpp>

#include "core/net/poco_http.h"
#include "tests/support/loopback_http.h"
#include "tests/tools/mcp/recording_receiver.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

using Then = ServedResponse::Then;

HttpTransportLimits quick_limits() {
  HttpTransportLimits limits;
  limits.exchange.retry = 10ms;
  limits.exchange.shortest_retry = 1ms;
  limits.exchange.notification = 5s;
  limits.exchange.request = 60s;
  return limits;
}

/// A transport to a server, open.
struct Line {
  explicit Line(const std::string& url, const HttpTransportLimits& limits = quick_limits(),
                HttpServer server = {})
      : transport(
            at(url, std::move(server)), [] { return std::make_unique<PocoHttp>(); }, limits) {
    transport.open(receiver, Transport::Deadline::max(), {});
  }
  static HttpServer at(const std::string& url, HttpServer server) {
    server.url = parse_server_url(url);
    return server;
  }
  void close() { transport.close(std::chrono::steady_clock::now() + 30s); }

  RecordingReceiver receiver;
  HttpTransport transport;
};

ServedResponse json(const std::string& body, const HttpHeaders& more = {}) {
  HttpHeaders headers{{"Content-Type", "application/json"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return served_status(200, headers, body);
}

/// An event stream that goes on, or ends.
ServedResponse stream(const std::string& events, Then then) {
  return {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events,
          .then = then};
}

ServedResponse accepted() { return served_status(202, {}, ""); }
ServedResponse none() { return served_status(405, {}, ""); }

std::string answer(int id, const std::string& result = R"({"ok":true})") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + result + "}";
}

Message answer_message(int id) { return result_reply(id, Json::object({{"ok", true}})); }

bool is_get(const ReceivedRequest& request) { return request.line.starts_with("GET"); }
bool has(const ReceivedRequest& request, const std::string& text) {
  return request.body.find(text) != std::string::npos;
}

/// The text that a single request to such a server fails with.
std::string failure_of(LoopbackHttp::Handler handler, HttpTransportLimits limits = quick_limits(),
                       const std::string& method = "tools/call") {
  LoopbackHttp server(std::move(handler));
  Line line(server.url(), limits);
  line.transport.send(request(1, method));
  const auto failures = line.receiver.wait_for_failures();
  BOOST_TEST(line.receiver.messages().size() == 0U);
  BOOST_TEST(line.receiver.closings().size() == 0U);
  return failures.at(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_transport)

BOOST_AUTO_TEST_CASE(a_request_is_answered_with_json_or_in_a_stream) {
  const struct {
    const char* name;
    ServedResponse response;
    std::vector<Message> messages;
  } rows[] = {
      {"json", json(answer(1)), {answer_message(1)}},
      {"json with a charset",
       served_status(200, {{"content-type", "application/json; charset=utf-8"}}, answer(1)),
       {answer_message(1)}},
      {"a stream that ends",
       served_stream("event: message\ndata: " + answer(1) + "\n\n"),
       {answer_message(1)}},
      {"a stream that goes on behind the answer",
       stream("data: " + answer(1) + "\n\ndata: " + answer(2) + "\n\n", Then::hang),
       {answer_message(1)}},
      {"what comes before the answer",
       served_stream(": comment\n\nid: 1\nretry: 5\ndata:\n\nevent: other\ndata: no\n\n"
                     R"(data: {"jsonrpc":"2.0","method":"notifications/progress"})"
                     "\n\ndata: " +
                     answer(1) + "\n\n"),
       {notification("notifications/progress"), answer_message(1)}},
      {"a batch",
       json("[" + answer(9) + "," + answer(1) + "]"),
       {answer_message(9), answer_message(1)}},
      {"an error",
       json(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})"),
       {error_reply(1, {.code = -32601, .message = "no"})}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LoopbackHttp server([&row](const ReceivedRequest&) { return row.response; });
      Line line(server.url());
      line.transport.send(request(1, "tools/list"));
      const auto messages = line.receiver.wait_for_messages(row.messages.size());
      BOOST_TEST((messages == row.messages));
      line.close();
      BOOST_TEST(line.receiver.failures().size() == 0U);
      BOOST_TEST(line.receiver.closings().size() == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_says_what_it_takes_and_whose_it_is) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    if (has(got, "initialize\"")) return json(answer(1), {{"MCP-Session-ID", "s-1"}});
    if (is_get(got)) return none();
    return has(got, "\"id\"") ? json(answer(2)) : accepted();
  });
  Line line(server.url("/mcp?tenant=a%20b"), quick_limits(),
            {.bearer_token = "token-1", .headers = {{"X-Team", "ci"}}});
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_messages(1);
  line.transport.agree("2025-06-18");
  line.transport.send(notification("notifications/initialized"));
  line.transport.send(request(2, "tools/list"));
  line.receiver.wait_for_messages(2);
  server.wait_for("GET");
  line.close();

  const auto requests = server.requests();
  BOOST_TEST(requests.at(0).line == "POST /mcp?tenant=a%20b HTTP/1.1");
  BOOST_TEST(has(requests.at(0), R"("method":"initialize")"));
  BOOST_TEST(has(requests.at(1), "notifications/initialized"));
  for (const ReceivedRequest& got : requests) {
    const auto value = [&got](const char* name) {
      return std::string(header_value(got.headers, name));
    };
    const bool first = has(got, R"("method":"initialize")");
    BOOST_TEST_CONTEXT(got.line << got.body) {
      BOOST_TEST(value("Authorization") == "Bearer token-1");
      BOOST_TEST(value("X-Team") == "ci");
      BOOST_TEST(value("Mcp-Session-Id") == (first ? "" : "s-1"));
      BOOST_TEST(value("MCP-Protocol-Version") == (first ? "" : "2025-06-18"));
      if (got.line.starts_with("POST")) {
        BOOST_TEST(value("Accept") == "application/json, text/event-stream");
        BOOST_TEST(value("Content-Type") == "application/json");
      }
      if (is_get(got)) BOOST_TEST(value("Accept") == "text/event-stream");
    }
  }
  BOOST_TEST(requests.back().line == "DELETE /mcp?tenant=a%20b HTTP/1.1");
  BOOST_TEST((line.receiver.closings() == std::vector<std::string>{"the connection was closed"}));
  BOOST_TEST(line.receiver.remarks().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_server_without_a_session_gets_no_delete) {
  LoopbackHttp server([](const ReceivedRequest&) { return json(answer(1)); });
  Line line(server.url());
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_messages(1);
  line.close();
  BOOST_TEST(server.count("DELETE") == 0U);
}

BOOST_AUTO_TEST_CASE(what_has_no_answer_is_delivered_in_its_order_and_before_what_follows) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    return has(got, "tools/list") ? json(answer(7)) : accepted();
  });
  Line line(server.url());
  std::vector<std::string> sent;
  for (int i = 0; i < 20; ++i) {
    const Message message =
        i % 2 == 0 ? notification("n/" + std::to_string(i)) : result_reply(i, Json::object());
    sent.push_back(write_message(message));
    line.transport.send(message);
  }
  line.transport.send(request(7, "tools/list"));
  sent.push_back(write_message(request(7, "tools/list")));
  line.receiver.wait_for_messages(1);
  std::vector<std::string> bodies;
  for (const auto& got : server.requests()) bodies.push_back(got.body);
  BOOST_TEST(bodies == sent, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(requests_run_side_by_side) {
  LoopbackHttp server([](const ReceivedRequest&) { return stream("", Then::hang); });
  Line line(server.url());
  for (int i = 0; i < 8; ++i) line.transport.send(request(i, "tools/call"));
  server.wait_for("POST", 8);  // though none of them is answered
  line.close();
  BOOST_TEST(line.receiver.closings().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_stream_that_broke_is_taken_up_behind_its_last_event) {
  // Cut in the midst of an event, ended in order, and a try that brings nothing at all.
  LoopbackHttp server([n = 0](const ReceivedRequest& got) mutable {
    if (!is_get(got))
      return stream("id: e1\nretry: 2\ndata:\n\nid: e2\ndata: {\"half", Then::close);
    ++n;
    if (n == 1) return ServedResponse{.bytes = "", .then = Then::close};
    if (n == 2)
      return stream(R"(id: e3)"
                    "\n"
                    R"(data: {"jsonrpc":"2.0","method":"notifications/message"})"
                    "\n\n",
                    Then::close);
    return stream("data: " + answer(1) + "\n\n", Then::hang);
  });
  Line line(server.url());
  line.transport.agree("2025-11-25");
  line.transport.send(request(1, "tools/call"));
  const auto messages = line.receiver.wait_for_messages(2);
  BOOST_TEST(
      (messages == std::vector<Message>{notification("notifications/message"), answer_message(1)}));
  BOOST_TEST(
      (server.headers("GET", "Last-Event-ID") == std::vector<std::string>{"e1", "e1", "e3"}));
  BOOST_TEST(
      (server.headers("GET", "MCP-Protocol-Version") == std::vector<std::string>(3, "2025-11-25")));
  BOOST_TEST(server.count("POST") == 1U);
}

BOOST_AUTO_TEST_CASE(a_stream_is_not_taken_up_without_end) {
  std::atomic<int> gets = 0;
  BOOST_TEST(failure_of([&](const ReceivedRequest& got) {
               if (is_get(got)) ++gets;
               return stream("id: e1\nretry: 0\ndata:\n\n", Then::close);
             }) == "1: the stream broke off, and 5 tries to take it up brought nothing");
  BOOST_TEST(gets == 5);
}

BOOST_AUTO_TEST_CASE(a_stream_whose_server_moves_on_and_on_ends_at_the_limit) {
  HttpTransportLimits limits = quick_limits();
  limits.exchange.request = 300ms;
  limits.exchange.shortest_retry = 20ms;
  const std::string why = failure_of(
      [n = 0](const ReceivedRequest&) mutable {
        return stream("id: e" + std::to_string(n++) + "\nretry: 0\ndata:\n\n", Then::close);
      },
      limits);
  BOOST_TEST(why.starts_with("1: the stream broke off"), why);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_answered_says_why) {
  const std::string page = "<html><script>alert(1)</script></html>";
  const struct {
    const char* name;
    ServedResponse response;
    std::string why;
  } rows[] = {
      {"500 without words", served_status(500, {}, ""), "the server failed (status 500)"},
      {"503 with words", served_status(503, {{"Content-Type", "text/plain"}}, "down for\ntoday\n"),
       "the server failed (status 503): down for today"},
      {"400 as JSON-RPC",
       served_status(
           400, {{"Content-Type", "application/json"}},
           R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No session"}})"),
       "the server does not take the message (status 400): No session"},
      {"400 with broken JSON", served_status(400, {{"Content-Type", "application/json"}}, "{\"a"),
       "the server does not take the message (status 400): {\"a"},
      {"500 with a page", served_status(500, {{"Content-Type", "text/html"}}, page),
       "the server failed (status 500)"},
      {"401",
       served_status(401, {{"Content-Type", "application/json"}, {"WWW-Authenticate", "Bearer"}},
                     R"({"error":"invalid_token","error_description":"expired"})"),
       "the server asks for a bearer token, and there is none (status 401): invalid_token: "
       "expired"},
      {"403", served_status(403, {}, ""), "the server forbids it (status 403)"},
      {"404 without a session", served_status(404, {}, ""),
       "the server does not take the message (status 404)"},
      {"429", served_status(429, {{"Retry-After", "7"}}, ""),
       "the server is asked too often (status 429), it says to wait 7 s"},
      {"a page", served_status(200, {{"Content-Type", "text/html"}}, page),
       "the server answers with 'text/html', not with JSON or an event stream"},
      {"no type", served_status(200, {}, answer(1)),
       "the server answers with something of no type, not with JSON or an event stream"},
      {"nothing", served_status(200, {{"Content-Type", "application/json"}}, ""),
       "the server's response ended without the answer"},
      {"202 for a request", served_status(202, {}, ""),
       "the server's response ended without the answer"},
      {"half of the JSON",
       {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
        .then = Then::close},
       "the connection ended before the response"},
      {"no HTTP",
       {.bytes = "220 mail.example ESMTP\r\n", .then = Then::close},
       "what the server sent is no HTTP response"},
      {"closed", {.bytes = "", .then = Then::close}, "the server closed the connection"},
      {"a stream without numbers that breaks",
       stream("retry: 1\ndata:\n\ndata: {\"jsonrpc\":", Then::close),
       "the server's response ended without the answer"},
      {"an id of the stream that could not be sent back",
       stream("id: a\x01"
              "b\ndata:\n\n",
              Then::close),
       "the server's response ended without the answer"},
      {"a redirect to another host",
       served_status(307, {{"Location", "http://127.0.0.2:1/mcp"}}, ""),
       "the server redirects to 'http://127.0.0.2:1/mcp', another host: nothing was sent there"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name)
  BOOST_TEST(failure_of([&row](const ReceivedRequest&) { return row.response; }) ==
             "1: " + row.why);
}

BOOST_AUTO_TEST_CASE(an_address_without_a_server_is_told_from_one) {
  for (const int status : {404, 405}) {
    const std::string why =
        failure_of([status](const ReceivedRequest&) { return served_status(status, {}, ""); },
                   quick_limits(), "initialize");
    BOOST_TEST(why.find("there is no server of streamable HTTP at http://127.0.0.1:") !=
               std::string::npos);
    BOOST_TEST(why.find("HTTP+SSE of version 2024-11-05 is not spoken") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(nobody_listening_is_a_failure_of_the_request) {
  std::string url;
  {
    const LoopbackHttp gone([](const ReceivedRequest&) { return accepted(); });
    url = gone.url();
  }
  Line line(url);
  line.transport.send(request("a", "initialize"));
  BOOST_TEST(line.receiver.wait_for_failures().at(0).starts_with("\"a\": "));
}

BOOST_AUTO_TEST_CASE(a_token_that_would_make_a_header_of_its_own_is_not_sent) {
  LoopbackHttp server([](const ReceivedRequest&) { return json(answer(1)); });
  for (const char* token : {"a\r\nX-Evil: 1", "a b", "t\xc3\xb6ken"}) {
    RecordingReceiver receiver;
    HttpTransport transport({.url = parse_server_url(server.url()), .bearer_token = token},
                            [] { return std::make_unique<PocoHttp>(); });
    BOOST_CHECK_THROW(transport.open(receiver, Transport::Deadline::max(), {}), TransportError);
    BOOST_CHECK_THROW(transport.send(request(1, "initialize")), TransportError);
    transport.close(Transport::Deadline::max());
    BOOST_TEST(receiver.closings().size() == 0U);
  }
  BOOST_TEST(server.requests().size() == 0U);

  Line line(server.url(), quick_limits(), {.bearer_token = "token-1\n"});
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_messages(1);
  BOOST_TEST(
      (server.headers("POST", "Authorization") == std::vector<std::string>{"Bearer token-1"}));
}

BOOST_AUTO_TEST_CASE(a_token_does_not_follow_a_redirect_to_another_host) {
  LoopbackHttp other([](const ReceivedRequest&) { return json(answer(1)); });
  LoopbackHttp server([&other](const ReceivedRequest&) {
    return served_status(308, {{"Location", other.url()}}, "");
  });
  Line line(server.url(), quick_limits(), {.bearer_token = "token-1"});
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_failures();
  BOOST_TEST(other.requests().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_redirect_within_the_host_is_followed_with_the_message) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    return got.line.starts_with("POST /mcp/ ") ? json(answer(1))
                                               : served_status(307, {{"Location", "/mcp/"}}, "");
  });
  Line line(server.url());
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_messages(1);
  BOOST_TEST(has(server.requests().back(), R"("method":"initialize")"));
}

BOOST_AUTO_TEST_CASE(messages_that_are_none_are_passed_over_but_not_without_end) {
  LoopbackHttp server([](const ReceivedRequest&) {
    return stream("data: no JSON\n\ndata: [1]\n\ndata: " + answer(1) + "\n\n", Then::close);
  });
  Line line(server.url());
  line.transport.send(request(1, "tools/list"));
  BOOST_TEST((line.receiver.wait_for_messages(1) == std::vector<Message>{answer_message(1)}));
  const auto remarks = line.receiver.wait_for_remarks(2);
  BOOST_TEST((remarks.at(0).kind == Remark::Kind::bad_message));
  BOOST_TEST(remarks.at(1).text ==
             "the server sent what is no message: a message that is no object");

  std::string flood;
  for (int i = 0; i < 200; ++i) flood += "data: x\n\n";
  BOOST_TEST(failure_of([&](const ReceivedRequest&) { return stream(flood, Then::hang); }) ==
             "1: the server sent 100 things that are no messages");
  BOOST_TEST(failure_of([](const ReceivedRequest&) {
               return json("{}");
             }).starts_with("1: the server sent what is no message: "));
}

BOOST_AUTO_TEST_CASE(sizes_are_bounded) {
  HttpTransportLimits limits = quick_limits();
  limits.exchange.reply.message.max_bytes = 1u << 20;
  limits.exchange.reply.stream_bytes = 4u << 20;
  const std::string large(2u << 20, 'x');
  const auto quoted = R"({"text":")" + large + R"("})";
  BOOST_TEST(failure_of([&](const ReceivedRequest&) { return json(answer(1, quoted)); }, limits) ==
             "1: a message is longer than 1048576 bytes");
  BOOST_TEST(failure_of(
                 [&](const ReceivedRequest&) {
                   return stream("data: " + answer(1, quoted) + "\n\n", Then::hang);
                 },
                 limits) == "1: an event of the stream is longer than 1048576 bytes");
  const std::string drip = R"(data: {"jsonrpc":"2.0","method":"n","params":{"t":")" +
                           std::string(100000, 'y') + "\"}}\n\n";
  LoopbackHttp endless([&](const ReceivedRequest&) {
    ServedResponse response = stream("", Then::drip);
    response.drip = drip;
    response.every = 0ms;
    return response;
  });
  Line line(endless.url(), limits);
  line.transport.send(request(1, "tools/call"));
  BOOST_TEST(line.receiver.wait_for_failures().at(0) ==
             "1: the stream is longer than 4194304 bytes");
  // Fifty megabytes of a refusal are not read.
  BOOST_TEST(
      failure_of([](const ReceivedRequest&) {
        return served_status(500, {{"Content-Type", "text/plain"}}, std::string(50u << 20, 'z'));
      }).size() < 1000U);
}

BOOST_AUTO_TEST_CASE(a_large_answer_within_the_bounds_arrives_whole) {
  const std::string text(8u << 20, 'x');
  const std::string result = R"({"text":")" + text + R"("})";
  for (const bool streamed : {false, true}) {
    LoopbackHttp server([&](const ReceivedRequest&) {
      return streamed ? served_stream("data: " + answer(1, result) + "\n\n")
                      : json(answer(1, result));
    });
    Line line(server.url());
    line.transport.send(request(1, "tools/call"));
    const auto messages = line.receiver.wait_for_messages(1);
    BOOST_TEST((messages.at(0).result["text"].text() == text));
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_never_answers_is_given_up_at_the_limit) {
  HttpTransportLimits limits = quick_limits();
  limits.exchange.request = 100ms;
  const struct {
    const char* name;
    ServedResponse response;
  } rows[] = {
      {"no byte", {.bytes = "", .then = Then::hang}},
      {"half a head", {.bytes = "HTTP/1.1 200 OK\r\nConte", .then = Then::hang}},
      {"a silent stream", stream("", Then::hang)},
      {"half an event", stream("data: {\"jsonrpc\"", Then::hang)},
      {"a stream of comments",
       {.bytes = stream("", Then::drip).bytes, .then = Then::drip, .drip = ":\n\n", .every = 1ms}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto why = failure_of([&row](const ReceivedRequest&) { return row.response; }, limits);
      BOOST_TEST(why.find("within the time limit") + why.find("longer than the time limit") !=
                     2 * std::string::npos,
                 why);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_that_nobody_waits_for_is_let_go) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    return has(got, "slow") ? stream("", Then::hang) : json(answer(2));
  });
  Line line(server.url());
  line.transport.send(request(1, "slow"));
  server.wait_for("POST");
  line.transport.abandon(1);
  server.wait_for_closed(1);
  line.transport.send(request(2, "quick"));
  line.receiver.wait_for_messages(1);
  BOOST_TEST(line.receiver.failures().size() == 0U);
}

BOOST_AUTO_TEST_CASE(an_answer_may_be_sent_from_within_a_call) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    if (!has(got, "tools/call")) return accepted();
    return stream(R"(data: {"jsonrpc":"2.0","id":"p","method":"ping"})"
                  "\n\ndata: " +
                      answer(1) + "\n\n",
                  Then::close);
  });
  Line line(server.url());
  line.receiver.on_message = [&](const Message& message) {
    if (message.kind == Message::Kind::request)
      line.transport.send(result_reply(message.id, Json::object()));
    line.transport.abandon(99);
  };
  line.transport.send(request(1, "tools/call"));
  line.receiver.wait_for_messages(2);
  server.wait_for("POST", 2);
  BOOST_TEST(server.requests().back().body == R"({"jsonrpc":"2.0","id":"p","result":{}})");
}

BOOST_AUTO_TEST_CASE(a_session_that_the_server_lost_closes_the_connection) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    if (has(got, "initialize\"")) return json(answer(1), {{"Mcp-Session-Id", "s-1"}});
    if (has(got, "slow")) return stream("", Then::hang);
    return served_status(404, {}, "");
  });
  Line line(server.url());
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_messages(1);
  line.transport.send(request(2, "slow"));
  server.wait_for("POST", 2);
  line.transport.send(request(3, "tools/call"));
  const std::vector<std::string> why{"the server knows the session no more (status 404)"};
  BOOST_TEST((line.receiver.wait_for_closing() == why));
  BOOST_CHECK_EXCEPTION(line.transport.send(request(4, "tools/call")), TransportError,
                        [&](const auto& error) { return error.what() == why.front(); });
  line.close();
  BOOST_TEST((line.receiver.closings() == why));
  BOOST_TEST(line.receiver.failures().size() == 0U);
  BOOST_TEST(server.count("DELETE") == 0U);
}

BOOST_AUTO_TEST_CASE(a_session_that_could_not_be_sent_back_is_refused) {
  for (const std::string& id :
       {std::string("a b"), std::string("\xc3\xa4"), std::string(5000, 'x')})
    BOOST_TEST(failure_of(
                   [&id](const ReceivedRequest&) {
                     return json(answer(1), {{"Mcp-Session-Id", id}});
                   },
                   quick_limits(),
                   "initialize") == "1: the server names a session that can't be sent back to it");
}

BOOST_AUTO_TEST_CASE(what_a_server_says_unasked_comes_on_a_stream_of_its_own) {
  LoopbackHttp server([n = 0](const ReceivedRequest& got) mutable {
    if (!is_get(got)) return accepted();
    ++n;
    return stream("id: " + std::to_string(n) +
                      "\n"
                      R"(data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
                      "\n\n",
                  n < 3 ? Then::close : Then::hang);
  });
  Line line(server.url());
  line.transport.send(notification("notifications/initialized"));
  const auto messages = line.receiver.wait_for_messages(3);
  BOOST_TEST((messages.at(0) == notification("notifications/tools/list_changed")));
  BOOST_TEST((server.headers("GET", "Last-Event-ID") == std::vector<std::string>{"", "1", "2"}));
  line.close();
  BOOST_TEST(line.receiver.remarks().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_stream_that_brings_nothing_is_asked_for_a_few_times_only) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    return is_get(got) ? stream("retry: 0\n\n", Then::close) : accepted();
  });
  Line line(server.url());
  line.transport.send(notification("notifications/initialized"));
  BOOST_TEST(line.receiver.wait_for_remarks().at(0).text ==
             "what the server says unasked is not heard: the server's own stream broke off again "
             "and again");
  BOOST_TEST(server.count("GET") == 5U);
}

BOOST_AUTO_TEST_CASE(a_notice_that_is_refused_is_remarked_and_nothing_more) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    return has(got, "\"id\"") ? json(answer(1)) : served_status(500, {}, "");
  });
  Line line(server.url());
  line.transport.send(notification("notifications/cancelled"));
  line.transport.send(request(1, "ping"));
  line.receiver.wait_for_messages(1);
  BOOST_TEST(line.receiver.remarks().at(0).text ==
             "notifications/cancelled could not be delivered: the server failed (status 500)");
}

BOOST_AUTO_TEST_CASE(closing_ends_in_time_whatever_the_server_does) {
  const ServedResponse silence{.bytes = "", .then = Then::hang};
  LoopbackHttp server([&](const ReceivedRequest& got) {
    return has(got, "initialize\"") ? json(answer(1), {{"Mcp-Session-Id", "s-1"}}) : silence;
  });
  Line line(server.url());
  line.transport.send(request(1, "initialize"));
  line.receiver.wait_for_messages(1);
  line.transport.send(request(2, "tools/call"));
  line.transport.send(notification("notifications/cancelled"));
  server.wait_for("POST", 3);
  line.transport.close(std::chrono::steady_clock::now() + 200ms);
  BOOST_TEST(line.receiver.closings().size() == 1U);
  line.transport.close(std::chrono::steady_clock::now());
  BOOST_TEST(line.receiver.closings().size() == 1U);
  BOOST_TEST(line.receiver.failures().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_transport_that_goes_away_takes_everything_with_it) {
  LoopbackHttp server([](const ReceivedRequest& got) {
    return has(got, "\"id\"") ? stream("", Then::hang) : accepted();
  });
  {
    Line line(server.url());
    for (int i = 0; i < 5; ++i) line.transport.send(request(i, "slow"));
    server.wait_for("POST", 5);
  }
  server.wait_for_closed(5);
  BOOST_TEST(server.count("DELETE") == 0U);
}

BOOST_AUTO_TEST_CASE(more_than_can_be_delivered_is_refused) {
  HttpTransportLimits limits = quick_limits();
  limits.waiting = 3;
  limits.open_requests = 2;
  LoopbackHttp server(
      [](const ReceivedRequest&) { return ServedResponse{.bytes = "", .then = Then::hang}; });
  {
    Line line(server.url(), limits);
    line.transport.send(notification("n"));
    server.wait_for("POST");
    for (int i = 0; i < 3; ++i) line.transport.send(notification("n"));
    BOOST_CHECK_THROW(line.transport.send(notification("n")), TransportError);
  }
  Line line(server.url(), limits);
  for (int i = 0; i < 2; ++i) {
    line.transport.send(request(i, "slow"));
    server.wait_for("POST", 2 + static_cast<std::size_t>(i));
  }
  BOOST_CHECK_THROW(line.transport.send(request(3, "slow")), TransportError);
}

BOOST_AUTO_TEST_SUITE_END()
