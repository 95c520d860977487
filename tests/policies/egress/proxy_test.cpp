#include "policies/egress/proxy.h"

#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/base/error.h"
#include "tests/policies/egress/loopback.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using State = EgressConnection::State;

namespace {

constexpr const char* kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

/// Sends back what it gets, and ends when the client does.
void echo(const Fd& socket) {
  for (;;) {
    const std::string piece = read_bytes(socket, 1);
    if (piece.empty() || !send_text(socket, piece)) return;
  }
}

std::string connect_request(const std::string& place) {
  return "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n\r\n";
}

/// A tunnel to the place through the proxy; the socket, after the proxy's answer.
Fd open_tunnel(const ProxyFixture& proxy, const std::string& place) {
  Fd socket = proxy.connect();
  send_text(socket, connect_request(place));
  BOOST_TEST(read_until(socket, "\r\n\r\n") == kEstablished);
  return socket;
}

std::string status_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy)

BOOST_AUTO_TEST_CASE(a_listed_place_is_reached_through_a_tunnel) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()});
  const Fd socket = open_tunnel(proxy, server.place());
  send_text(socket, "hello");
  BOOST_TEST(read_bytes(socket, 5) == "hello");
  end_sending(socket);
  BOOST_TEST(read_all(socket) == "");

  const auto reports = proxy.wait_for_ends(1);
  BOOST_REQUIRE(reports.size() == 2u);
  BOOST_TEST((reports[0].state == State::opened));
  BOOST_TEST((reports[1].state == State::closed));
  for (const auto& report : reports) {
    BOOST_TEST(report.id == reports[0].id);
    BOOST_TEST(report.host == "127.0.0.1");
    BOOST_TEST(report.port == server.port());
    BOOST_TEST(report.method == "CONNECT");
    BOOST_TEST(report.rule == server.place());
    BOOST_TEST(report.address == "127.0.0.1");
    BOOST_TEST(report.reason == "");
  }
  BOOST_TEST(reports[0].sent_bytes == 0u);
  BOOST_TEST(reports[1].sent_bytes == 5u);
  BOOST_TEST(reports[1].received_bytes == 5u);
}

BOOST_AUTO_TEST_CASE(bytes_sent_ahead_of_the_answer_go_through) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()});
  const Fd socket = proxy.connect();
  send_text(socket, connect_request(server.place()) + "early");
  end_sending(socket);
  BOOST_TEST(read_all(socket) == std::string(kEstablished) + "early");
}

BOOST_AUTO_TEST_CASE(a_place_that_is_not_listed_is_refused_with_the_reason) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({"packages.example.com"});
  const std::string answer = proxy.ask(connect_request(server.place()));
  BOOST_TEST(status_line(answer) == "HTTP/1.1 403 Forbidden by network.allow of the policy");
  BOOST_TEST(body_of(answer) == "sortie: " + server.place() +
                                    " is not in the policy's network.allow; an entry \"" +
                                    server.place() + "\" there would allow it\n");
  const auto reports = proxy.wait_for_ends(1);
  BOOST_REQUIRE(reports.size() == 1u);
  BOOST_TEST((reports[0].state == State::denied));
  BOOST_TEST(reports[0].host == "127.0.0.1");
  BOOST_TEST(reports[0].port == server.port());
  BOOST_TEST(reports[0].rule == "");
  BOOST_TEST("sortie: " + reports[0].reason + "\n" == body_of(answer));
  BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(an_empty_list_lets_nothing_through) {
  ProxyFixture proxy({});
  BOOST_TEST(proxy.ask(connect_request("example.org:443")).starts_with("HTTP/1.1 403 "));
  BOOST_TEST(proxy.ask("GET http://example.org/ HTTP/1.1\r\nHost: x\r\n\r\n")
                 .starts_with("HTTP/1.1 403 "));
  BOOST_TEST(proxy.resolver().calls() == 0);
}

BOOST_AUTO_TEST_CASE(a_host_that_is_not_listed_is_not_even_looked_up) {
  ProxyFixture proxy({"a.example"});
  proxy.ask(connect_request("secret-in-a-name.evil.example:443"));
  BOOST_TEST(proxy.resolver().calls() == 0);
}

BOOST_AUTO_TEST_CASE(entries_that_cant_be_read_are_an_error) {
  BOOST_CHECK_THROW(ProxyFixture({"a.example", "*."}), InputError);
}

BOOST_AUTO_TEST_CASE(a_host_is_looked_up_once_and_that_answer_is_connected_to) {
  const LoopbackServer server(echo);
  const std::string place = "rebinding.example:" + std::to_string(server.port());
  ProxyFixture proxy({place});
  // The second answer would lead elsewhere.
  proxy.resolver().set("rebinding.example", {{"127.0.0.1"}, {"169.254.169.254"}});
  const Fd socket = open_tunnel(proxy, place);
  send_text(socket, "x");
  BOOST_TEST(read_bytes(socket, 1) == "x");
  BOOST_TEST(proxy.resolver().calls() == 1);
  BOOST_TEST(proxy.reports().front().address == "127.0.0.1");
}

BOOST_AUTO_TEST_CASE(a_name_that_leads_inside_is_refused) {
  const LoopbackServer server(echo);
  const std::string port = std::to_string(server.port());
  const struct {
    const char* name;
    std::vector<std::string> allow;
    std::vector<std::string> addresses;
    bool reached;
  } rows[] = {
      {"by a wildcard", {"*.example:" + port}, {"127.0.0.1"}, false},
      {"IPv4 in IPv6 form", {"a.example:" + port}, {"::ffff:127.0.0.1"}, false},
      {"compatible form", {"a.example:" + port}, {"::127.0.0.1"}, false},
      {"unspecified", {"a.example:" + port}, {"0.0.0.0"}, false},
      {"unspecified IPv6", {"a.example:" + port}, {"::"}, false},
      {"metadata", {"a.example:" + port}, {"169.254.169.254"}, false},
      {"all of them inside", {"*.example:" + port}, {"10.0.0.1", "127.0.0.1", "::1"}, false},
      {"by its own name", {"a.example:" + port}, {"127.0.0.1"}, true},
      {"by the address", {"*.example:" + port, "127.0.0.1:" + port}, {"127.0.0.1"}, true},
      {"by the address at another port",
       {"*.example:" + port, "127.0.0.1:1"},
       {"127.0.0.1"},
       false},
      {"the one that may be", {"a.example:" + port}, {"0.0.0.0", "127.0.0.1"}, true},
  };
  int reached = 0;
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProxyFixture proxy(row.allow);
      proxy.resolver().set("a.example", {row.addresses});
      const Fd socket = proxy.connect();
      send_text(socket, connect_request("a.example:" + port));
      const std::string answer = read_until(socket, "\r\n\r\n");
      BOOST_TEST(answer.starts_with(row.reached ? "HTTP/1.1 200 " : "HTTP/1.1 403 "), answer);
      if (row.reached) {
        // Only what comes back tells that the server has taken the connection.
        send_text(socket, "x");
        BOOST_TEST(read_bytes(socket, 1) == "x");
        ++reached;
      }
      BOOST_TEST(server.connections() == reached);
      if (row.reached) continue;
      const auto reports = proxy.wait_for_ends(1);
      BOOST_TEST((reports.front().state == State::denied));
      BOOST_TEST(reports.front().reason.find(row.addresses.front()) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_next_address_is_tried_where_one_refuses) {
  const LoopbackServer server(echo);
  const std::string place = "two.example:" + std::to_string(server.port());
  ProxyFixture proxy({place});
  proxy.resolver().set("two.example", {{"127.0.0.99", "::1", "127.0.0.1"}});
  const Fd socket = open_tunnel(proxy, place);
  end_sending(socket);
  read_all(socket);
  const auto reports = proxy.wait_for_ends(1);
  BOOST_TEST(reports.back().address == "127.0.0.1");
}

BOOST_AUTO_TEST_CASE(what_fails_beyond_the_proxy_says_how) {
  Listener closed = listen_on_loopback();
  const int port = closed.port;
  closed.socket.reset();
  const std::string place = "127.0.0.1:" + std::to_string(port);
  ProxyFixture proxy({place, "nowhere.example"});
  const std::string refused = proxy.ask(connect_request(place));
  BOOST_TEST(status_line(refused) == "HTTP/1.1 502 Bad Gateway");
  BOOST_TEST(body_of(refused) == "sortie: " + place + " can't be reached: Connection refused\n");
  const std::string unknown = proxy.ask(connect_request("nowhere.example:443"));
  BOOST_TEST(status_line(unknown) == "HTTP/1.1 502 Bad Gateway");
  BOOST_TEST(body_of(unknown) == "sortie: nowhere.example can't be found: no such name\n");

  const auto reports = proxy.wait_for_ends(2);
  BOOST_REQUIRE(reports.size() == 4u);  // each was allowed, and then failed
  BOOST_TEST((reports[1].state == State::closed));
  BOOST_TEST(reports[1].reason == place + " can't be reached: Connection refused");
  BOOST_TEST((reports[3].state == State::closed));
}

BOOST_AUTO_TEST_CASE(a_lookup_that_never_ends_is_given_up) {
  ProxyFixture proxy({"slow.example"}, {.connect = 50ms});
  proxy.resolver().set("slow.example", {{"1.1.1.1"}});
  proxy.resolver().hold(true);
  const std::string answer = proxy.ask(connect_request("slow.example:443"));
  BOOST_TEST(status_line(answer) == "HTTP/1.1 504 Gateway Timeout");
}

BOOST_AUTO_TEST_CASE(a_connect_that_never_ends_is_given_up) {
  // A listener whose queue is full lets nobody in.
  const Listener full = listen_on_loopback(0);
  const Fd first = connect_to(full.port);
  const std::string place = "127.0.0.1:" + std::to_string(full.port);
  std::vector<Fd> more;
  for (int i = 0; i < 4; ++i) {
    more.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_storage to;
    const socklen_t length = fill_socket_address(*read_ip_address("127.0.0.1"),
                                                 static_cast<std::uint16_t>(full.port), to);
    ::connect(more.back().get(), reinterpret_cast<sockaddr*>(&to), length);
  }
  ProxyFixture proxy({place}, {.connect = 100ms});
  const std::string answer = proxy.ask(connect_request(place));
  BOOST_TEST(status_line(answer) == "HTTP/1.1 504 Gateway Timeout");
}

BOOST_AUTO_TEST_CASE(malformed_requests_get_an_answer_and_a_record) {
  ProxyFixture proxy({"a.example"});
  const struct {
    std::string request;
    int status;
  } rows[] = {
      {"\r\n\r\n", 400},
      {"GET / HTTP/1.1\n", 400},
      {"\x16\x03\x01\x02\n", 400},
      {std::string(1, '\0'), 400},
      {"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", 400},
      {"CONNECT user@a.example:443 HTTP/1.1\r\n\r\n", 400},
      {"CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n", 400},
      {"GET https://a.example/ HTTP/1.1\r\nHost: x\r\n\r\n", 501},
      {"GET http://a.example/ HTTP/3.0\r\nHost: x\r\n\r\n", 505},
      {"GET http://a.example/ HTTP/1.1\r\nA: " + std::string(17000, 'a'), 431},
  };
  std::size_t count = 0;
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.request.substr(0, 60)) {
      const std::string answer = proxy.ask(row.request);
      BOOST_TEST(answer.starts_with("HTTP/1.1 " + std::to_string(row.status) + " "), answer);
      const auto reports = proxy.wait_for_ends(++count);
      BOOST_REQUIRE(reports.size() == count);
      BOOST_TEST((reports.back().state == State::denied));
      BOOST_TEST(reports.back().reason != "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_too_slowly_is_given_up) {
  ProxyFixture proxy({"a.example"}, {.head = 50ms});
  BOOST_TEST(proxy.ask("GET http://a.ex").starts_with("HTTP/1.1 408 "));
  // A connection over which nothing came is nobody's attempt.
  BOOST_TEST(proxy.ask("") == "");
  BOOST_TEST(proxy.wait_for_ends(1).size() == 1u);
}

BOOST_AUTO_TEST_CASE(each_direction_ends_on_its_own) {
  // Reads to the end first, and answers then.
  const LoopbackServer server([](const Fd& socket) {
    const std::string all = read_all(socket);
    send_text(socket, std::to_string(all.size()));
  });
  ProxyFixture proxy({server.place()});
  const Fd socket = open_tunnel(proxy, server.place());
  send_text(socket, std::string(300'000, 'x'));
  end_sending(socket);
  BOOST_TEST(read_all(socket) == "300000");
  BOOST_TEST(proxy.wait_for_ends(1).back().sent_bytes == 300'000u);
}

BOOST_AUTO_TEST_CASE(a_server_may_end_first) {
  std::string got;
  {
    const LoopbackServer server([&got](const Fd& socket) {
      send_text(socket, "bye");
      end_sending(socket);
      got = read_all(socket);
    });
    ProxyFixture proxy({server.place()});
    const Fd socket = open_tunnel(proxy, server.place());
    BOOST_TEST(read_all(socket) == "bye");
    send_text(socket, "still here");
    end_sending(socket);
    proxy.wait_for_ends(1);
  }
  BOOST_TEST(got == "still here");
}

BOOST_AUTO_TEST_CASE(a_silent_tunnel_is_ended_and_a_busy_one_is_not) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()}, {.idle = 100ms});
  const Fd socket = open_tunnel(proxy, server.place());
  BOOST_TEST(read_all(socket) == "");
  BOOST_TEST(proxy.wait_for_ends(1).back().reason == "nothing was sent for too long");
}

BOOST_AUTO_TEST_CASE(a_reader_that_stops_makes_the_sender_wait) {
  // The server sends until nobody takes any more; what is under way stays far below what it has.
  constexpr std::size_t kMuch = 512u << 20;
  std::size_t sent = 0;
  {
    const LoopbackServer server([&sent](const Fd& socket) {
      const std::string piece(1 << 20, 'x');
      while (sent < kMuch && send_text(socket, piece)) sent += piece.size();
    });
    ProxyFixture proxy({server.place()}, {.idle = 200ms});
    const Fd socket = open_tunnel(proxy, server.place());
    // Nothing is read here: nothing moves, until the proxy gives up.
    const auto reports = proxy.wait_for_ends(1);
    BOOST_TEST(reports.back().reason == "nothing was sent for too long");
    BOOST_TEST(reports.back().received_bytes < (64u << 20));
  }
  BOOST_TEST(sent < kMuch);
}

BOOST_AUTO_TEST_CASE(what_goes_through_is_not_changed) {
  std::mt19937 random(7);
  std::string bytes(8 << 20, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  const LoopbackServer server([](const Fd& socket) {
    const std::string all = read_all(socket);
    send_text(socket, all);
  });
  ProxyFixture proxy({server.place()});
  const Fd socket = open_tunnel(proxy, server.place());
  send_text(socket, bytes);
  end_sending(socket);
  BOOST_TEST((read_all(socket) == bytes));
}

BOOST_AUTO_TEST_CASE(many_connections_are_served_and_no_more_than_allowed_at_once) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()}, {.connections = 8});
  std::vector<std::thread> clients;
  std::atomic<int> served = 0;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back([&] {
      const Fd socket = proxy.connect();
      send_text(socket, connect_request(server.place()) + "ping");
      end_sending(socket);
      if (read_all(socket) == std::string(kEstablished) + "ping") ++served;
    });
  }
  for (auto& client : clients) client.join();
  BOOST_TEST(served == 40);
  const auto reports = proxy.wait_for_ends(40);
  int open = 0;
  int most = 0;
  for (const auto& report : reports) {
    open += report.state == State::opened ? 1 : -1;
    most = std::max(most, open);
  }
  BOOST_TEST(most <= 8);
}

BOOST_AUTO_TEST_CASE(connections_that_are_handed_over_are_served_alike) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()});
  int pair[2];
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  const Fd ours(pair[0]);
  proxy.proxy().adopt(Fd(pair[1]));
  send_text(ours, connect_request(server.place()) + "over a socket pair");
  end_sending(ours);
  BOOST_TEST(read_all(ours) == std::string(kEstablished) + "over a socket pair");
}

BOOST_AUTO_TEST_CASE(a_run_makes_only_so_many_requests) {
  ProxyFixture proxy({}, {.requests = 3});
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(proxy.ask(connect_request("a.example:443")).starts_with("HTTP/1.1 403 "));
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(proxy.ask(connect_request("a.example:443")).starts_with("HTTP/1.1 503 "));
  const auto reports = proxy.reports();
  BOOST_REQUIRE(reports.size() == 4u);  // the first one too many is told of, the others not
  BOOST_TEST(reports.back().reason == "this run has made too many requests; no more are served");
}

BOOST_AUTO_TEST_CASE(what_cant_be_recorded_is_not_done) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()});
  proxy.fail_reports();
  BOOST_TEST(proxy.ask(connect_request(server.place())).starts_with("HTTP/1.1 500 "));
  BOOST_TEST(server.connections() == 0);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_proxy_ends_and_reports_what_is_open) {
  const LoopbackServer server(echo);
  ProxyFixture proxy({server.place()});
  const Fd socket = open_tunnel(proxy, server.place());
  proxy.stop();
  BOOST_TEST(read_all(socket) == "");
  const auto reports = proxy.reports();
  BOOST_REQUIRE(reports.size() == 2u);
  BOOST_TEST((reports.back().state == State::closed));
  BOOST_TEST(reports.back().reason == "the run ended");
}

BOOST_AUTO_TEST_SUITE_END()
