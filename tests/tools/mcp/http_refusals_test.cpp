// What a server refuses, and what is refused to it.
#include "tests/tools/mcp/http_line.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace sortie::test;

using Then = ServedResponse::Then;

BOOST_AUTO_TEST_SUITE(http_refusals)

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
       "the server rejected the message (status 400): No session"},
      {"400 with broken JSON", served_status(400, {{"Content-Type", "application/json"}}, "{\"a"),
       "the server rejected the message (status 400): {\"a"},
      {"500 with a page", served_status(500, {{"Content-Type", "text/html"}}, page),
       "the server failed (status 500)"},
      {"401",
       served_status(401, {{"Content-Type", "application/json"}, {"WWW-Authenticate", "Bearer"}},
                     R"({"error":"invalid_token","error_description":"expired"})"),
       "the server requires a bearer token, and there is none (status 401): invalid_token: "
       "expired"},
      {"403", served_status(403, {}, ""), "the server forbids it (status 403)"},
      {"404 without a session", served_status(404, {}, ""),
       "the server rejected the message (status 404)"},
      {"429", served_status(429, {{"Retry-After", "7"}}, ""),
       "too many requests (status 429), retry after 7 s"},
      {"a page", served_status(200, {{"Content-Type", "text/html"}}, page),
       "the server answers with 'text/html', not with JSON or an event stream"},
      {"no type", served_status(200, {}, answer(1)),
       "the server answers with a body without a content type, not with JSON or an event stream"},
      {"nothing", served_status(200, {{"Content-Type", "application/json"}}, ""),
       "the server's response ended without an answer"},
      {"202 for a request", served_status(202, {}, ""),
       "the server's response ended without an answer"},
      {"half of the JSON",
       {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
        .then = Then::close},
       "the connection ended before the response"},
      {"no HTTP",
       {.bytes = "220 mail.example ESMTP\r\n", .then = Then::close},
       "what the server sent is not an HTTP response"},
      {"closed", {.bytes = "", .then = Then::close}, "the server closed the connection"},
      {"a stream without numbers that breaks",
       stream("retry: 1\ndata:\n\ndata: {\"jsonrpc\":", Then::close),
       "the server's response ended without an answer"},
      {"an id of the stream that could not be sent back",
       stream("id: a\x01"
              "b\ndata:\n\n",
              Then::close),
       "the server's response ended without an answer"},
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
    BOOST_TEST(why.find("there is no streamable HTTP server at http://127.0.0.1:") !=
               std::string::npos);
    BOOST_TEST(why.find("HTTP+SSE transport of version 2024-11-05 is not supported") !=
               std::string::npos);
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
                            [] { return std::make_unique<HttpClient>(); });
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
  const std::vector<std::string> why{"the server does not know the session anymore (status 404)"};
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
                   "initialize") == "1: the server's session ID can't be sent back in a header");
}

BOOST_AUTO_TEST_SUITE_END()
