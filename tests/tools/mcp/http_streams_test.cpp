// Event streams that break, and the one of the server's own.
#include <atomic>

#include "tests/tools/mcp/http_line.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace sortie::test;
using namespace std::chrono_literals;

using Then = ServedResponse::Then;

BOOST_AUTO_TEST_SUITE(http_streams)

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
             }) == "1: the stream broke, and 5 attempts to resume it failed");
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
  BOOST_TEST(why.starts_with("1: the stream broke"), why);
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
  BOOST_TEST(
      line.receiver.wait_for_remarks().at(0).text ==
      "the server's own messages can't be received: the server's own stream broke repeatedly");
  BOOST_TEST(server.count("GET") == 5U);
}

BOOST_AUTO_TEST_SUITE_END()
