// What goes out over HTTP, and the answers that come.
#include "tests/tools/mcp/http_line.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace sortie::test;

using Then = ServedResponse::Then;

BOOST_AUTO_TEST_SUITE(http_requests)

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
      {"an error of what could not be read",
       stream("data: "
              R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})"
              "\n\n",
              Then::hang),
       {error_reply(1, {.code = -32700, .message = "no"})}},
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
  Line line(server.url("/mcp?tenant=a%20b"), quick_limits(), {.bearer_token = "token-1"});
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

BOOST_AUTO_TEST_SUITE_END()
