// Plain HTTP through the proxy: requests and responses.
#include <boost/test/unit_test.hpp>

#include "core/http1/message_head.h"
#include "tests/policies/egress/loopback.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using State = EgressConnection::State;

namespace {

/// Reads one request's head, and the body that its Content-Length tells of.
std::string read_request(const Fd& socket) {
  std::string text = read_until(socket, "\r\n\r\n");
  const std::size_t at = text.find("Content-Length: ");
  if (at != std::string::npos)
    text += read_bytes(socket, std::stoul(text.substr(at + 16)));
  else if (text.find("Transfer-Encoding: chunked") != std::string::npos)
    text += read_until(socket, "0\r\n\r\n");
  return text;
}

/// Answers each connection's one request with the same bytes, and keeps what was asked.
class CannedServer {
 public:
  explicit CannedServer(std::string answer)
      : answer_(std::move(answer)), server_([this](const Fd& socket) {
          const std::string request = read_request(socket);
          {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
          }
          send_text(socket, answer_);
        }) {}
  std::string place() const { return server_.place(); }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::string answer_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  LoopbackServer server_;
};

std::string get_request(const std::string& place, const std::string& more = "") {
  return "GET http://" + place + "/x HTTP/1.1\r\nHost: " + place + "\r\n" + more + "\r\n";
}

constexpr const char* kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
constexpr const char* kPassedOn =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nVia: 1.1 sortie\r\n\r\nhello";
constexpr const char* kPassedOnLast =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\nhello";

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_exchange)

BOOST_AUTO_TEST_CASE(a_plain_request_is_passed_on_and_its_response_back) {
  const CannedServer server(kHello);
  ProxyFixture proxy({server.place()});
  BOOST_TEST(proxy.ask(get_request(server.place(), "Connection: close\r\nA: b\r\n")) ==
             kPassedOnLast);
  BOOST_TEST(server.requests().at(0) == "GET /x HTTP/1.1\r\nHost: " + server.place() +
                                            "\r\nA: b\r\nVia: 1.1 sortie\r\n"
                                            "Connection: close\r\n\r\n");
  const auto reports = proxy.wait_for_ends(1);
  BOOST_REQUIRE(reports.size() == 2u);
  BOOST_TEST((reports[0].state == State::opened));
  BOOST_TEST(reports[1].method == "GET");
  BOOST_TEST(reports[1].received_bytes == std::string(kHello).size());
  BOOST_TEST(reports[1].reason == "");
}

BOOST_AUTO_TEST_CASE(each_request_of_a_connection_is_decided_anew) {
  const CannedServer server(kHello);
  ProxyFixture proxy({server.place()});
  const Fd socket = proxy.connect();
  for (int i = 0; i < 3; ++i) {
    send_text(socket, get_request(server.place()));
    BOOST_TEST(read_bytes(socket, std::string(kPassedOn).size()) == kPassedOn);
  }
  send_text(socket, get_request("evil.example"));
  BOOST_TEST(read_all(socket).starts_with("HTTP/1.1 403 "));
  const auto reports = proxy.wait_for_ends(4);
  BOOST_TEST(reports.size() == 7u);
  BOOST_TEST((reports.back().state == State::denied));
  BOOST_TEST(reports.back().host == "evil.example");
}

BOOST_AUTO_TEST_CASE(a_host_field_changes_nothing) {
  const CannedServer server(kHello);
  ProxyFixture proxy({server.place()});
  BOOST_TEST(proxy
                 .ask("GET http://" + server.place() +
                      "/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                 .starts_with("HTTP/1.1 200 "));
  BOOST_TEST(server.requests().at(0).find("Host: " + server.place() + "\r\n") != std::string::npos);
  BOOST_TEST(proxy.ask("GET http://evil.example/ HTTP/1.1\r\nHost: " + server.place() + "\r\n\r\n")
                 .starts_with("HTTP/1.1 403 "));
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_order) {
  const CannedServer server(kHello);
  ProxyFixture proxy({server.place()});
  BOOST_TEST(proxy.ask(get_request(server.place()) + get_request(server.place()) +
                       get_request(server.place(), "Connection: close\r\n")) ==
             std::string(kPassedOn) + kPassedOn + kPassedOnLast);
}

BOOST_AUTO_TEST_CASE(bodies_go_both_ways_in_both_framings) {
  const CannedServer server(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=1\r\nhe\r\n3\r\nllo\r\n"
      "0\r\nTrailer: x\r\n\r\n");
  ProxyFixture proxy({server.place()});
  const std::string head = "POST http://" + server.place() + "/ HTTP/1.1\r\nHost: x\r\n";
  const std::string answer = proxy.ask(head +
                                       "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                                       "4;a=b\r\nwiki\r\n0\r\nX: y\r\n\r\n");
  BOOST_TEST(answer.ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), answer);
  BOOST_TEST(server.requests().at(0).ends_with("\r\n\r\n4\r\nwiki\r\n0\r\n\r\n"));

  proxy.ask(head + "Connection: close\r\nContent-Length: 4\r\n\r\nwiki");
  BOOST_TEST(server.requests().at(1).ends_with("\r\n\r\nwiki"));
}

BOOST_AUTO_TEST_CASE(a_body_without_a_length_ends_the_connection) {
  const CannedServer server("HTTP/1.1 200 OK\r\n\r\nto the end");
  ProxyFixture proxy({server.place()});
  BOOST_TEST(proxy.ask(get_request(server.place())) ==
             "HTTP/1.1 200 OK\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\nto the end");
}

BOOST_AUTO_TEST_CASE(an_old_client_gets_no_chunks) {
  const CannedServer server(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  ProxyFixture proxy({server.place()});
  BOOST_TEST(proxy.ask("GET http://" + server.place() + "/ HTTP/1.0\r\n\r\n") ==
             "HTTP/1.1 200 OK\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\nhello");
}

BOOST_AUTO_TEST_CASE(interim_responses_come_before_the_final_one) {
  const LoopbackServer server([](const Fd& socket) {
    read_until(socket, "\r\n\r\n");
    send_text(socket, "HTTP/1.1 100 Continue\r\n\r\n");
    const std::string body = read_bytes(socket, 4);
    send_text(socket, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + body);
  });
  ProxyFixture proxy({server.place()});
  const Fd socket = proxy.connect();
  send_text(socket, "POST http://" + server.place() +
                        "/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n"
                        "Connection: close\r\n\r\n");
  BOOST_TEST(read_until(socket, "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  send_text(socket, "body");
  BOOST_TEST(read_all(socket).ends_with("\r\n\r\nbody"));
}

BOOST_AUTO_TEST_CASE(an_answer_before_the_whole_request_is_passed_on) {
  const LoopbackServer server([](const Fd& socket) {
    read_until(socket, "\r\n\r\n");
    send_text(socket, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    end_sending(socket);
    read_all(socket);
  });
  ProxyFixture proxy({server.place()});
  const Fd socket = proxy.connect();
  send_text(socket, "POST http://" + server.place() +
                        "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nfirst");
  const std::string answer = read_all(socket);
  BOOST_TEST(answer.starts_with("HTTP/1.1 413 "), answer);
  BOOST_TEST(answer.find("Connection: close") != std::string::npos);
  BOOST_TEST(answer.ends_with("\r\n\r\nno"));
}

BOOST_AUTO_TEST_CASE(responses_that_could_mislead_become_502) {
  for (const char* answer :
       {"", "nonsense", "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 200 OK\r\nA:"}) {
    BOOST_TEST_CONTEXT(answer) {
      const CannedServer server(answer);
      ProxyFixture proxy({server.place()});
      BOOST_TEST(proxy.ask(get_request(server.place())).starts_with("HTTP/1.1 502 "));
      BOOST_TEST(proxy.wait_for_ends(1).back().reason != "");
    }
  }
  const CannedServer server("HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'a'));
  ProxyFixture proxy({server.place()});
  BOOST_TEST(proxy.ask(get_request(server.place())).starts_with("HTTP/1.1 502 "));
}

BOOST_AUTO_TEST_CASE(a_response_that_is_cut_short_is_not_made_whole) {
  for (const char* answer :
       {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"}) {
    BOOST_TEST_CONTEXT(answer) {
      const CannedServer server(answer);
      ProxyFixture proxy({server.place()});
      const std::string got = proxy.ask(get_request(server.place()));
      BOOST_TEST(!got.ends_with("0\r\n\r\n"), got);
      BOOST_TEST(proxy.wait_for_ends(1).back().reason ==
                 "the server's response is malformed or cut short");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_body_that_is_malformed_ends_the_exchange) {
  const CannedServer server(kHello);
  ProxyFixture proxy({server.place()});
  const Fd socket = proxy.connect();
  send_text(socket, "POST http://" + server.place() +
                        "/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "5\r\nhelloGET http://evil.example/ HTTP/1.1\r\n\r\n");
  BOOST_TEST(read_all(socket) == "");
  BOOST_TEST(proxy.wait_for_ends(1).back().reason ==
             "the request's body is malformed or cut short");
}

BOOST_AUTO_TEST_CASE(a_response_to_HEAD_has_no_body) {
  const CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  ProxyFixture proxy({server.place()});
  const std::string head = "HEAD http://" + server.place() + "/ HTTP/1.1\r\nHost: x\r\n\r\n";
  const Fd socket = proxy.connect();
  for (int i = 0; i < 2; ++i) {
    send_text(socket, head);
    BOOST_TEST(read_until(socket, "\r\n\r\n") ==
               "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nVia: 1.1 sortie\r\n\r\n");
  }
}

BOOST_AUTO_TEST_CASE(large_bodies_pass_in_pieces) {
  const std::string much(24 << 20, 'z');
  const CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(much.size()) +
                            "\r\n\r\n" + much);
  ProxyFixture proxy({server.place()});
  const std::string answer = proxy.ask("PUT http://" + server.place() +
                                       "/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                       "Content-Length: " +
                                       std::to_string(much.size()) + "\r\n\r\n" + much);
  BOOST_TEST(answer.size() > much.size());
  BOOST_TEST(answer.ends_with("zzzz"));
  BOOST_TEST(server.requests().at(0).size() > much.size());
}

BOOST_AUTO_TEST_SUITE_END()
