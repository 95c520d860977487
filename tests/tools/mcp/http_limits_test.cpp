// What a server over HTTP can't do: send, wait or take without end.
#include "tests/tools/mcp/http_line.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace sortie::test;
using namespace std::chrono_literals;

using Then = ServedResponse::Then;

BOOST_AUTO_TEST_SUITE(http_limits)

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
             "the server sent an invalid message: a message that is not an object");

  std::string flood;
  for (int i = 0; i < 200; ++i) flood += "data: x\n\n";
  BOOST_TEST(failure_of([&](const ReceivedRequest&) { return stream(flood, Then::hang); }) ==
             "1: the server sent 100 invalid messages");
  BOOST_TEST(failure_of([](const ReceivedRequest&) {
               return json("{}");
             }).starts_with("1: the server sent an invalid message: "));
}

BOOST_AUTO_TEST_CASE(an_answer_that_can_not_be_read_is_waited_for_no_longer) {
  const std::string broken = R"(data: {"jsonrpc":"2.0","id":1,"result":{)";
  BOOST_TEST(failure_of([&](const ReceivedRequest&) {
               return stream(broken + "\n\n", Then::hang);
             }).starts_with("1: the server sent an invalid message: not JSON: "));
  // Another's, a broken notification and a log are passed over.
  LoopbackHttp server([](const ReceivedRequest&) {
    return stream(R"(data: {"jsonrpc":"2.0","id":2,"result":{)"
                  "\n\n"
                  R"(data: {"jsonrpc":"2.0","method":"notifications/message","params":)"
                  "\n\n"
                  R"(data: {"level":"info","id":1,"error":)"
                  "\n\ndata: " +
                      answer(1) + "\n\n",
                  Then::hang);
  });
  Line line(server.url());
  line.transport.send(request(1, "tools/list"));
  BOOST_TEST((line.receiver.wait_for_messages(1) == std::vector<Message>{answer_message(1)}));
  BOOST_TEST(line.receiver.wait_for_remarks(3).size() == 3U);
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
