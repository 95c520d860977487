// sortie's own proxy behind a company's.
#include <boost/test/unit_test.hpp>
#include <mutex>

#include "policies/egress/proxy.h"
#include "tests/policies/egress/loopback.h"

using namespace sortie;
using namespace sortie::test;
using State = EgressConnection::State;

namespace {

constexpr const char* kAuthorization = "Basic Y2k6c2VjcmV0IHdvcmQ=";  ///< ci:secret word

std::string connect_request(const std::string& place) {
  return "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n\r\n";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The company's: answers each head with the same bytes, then sends back what it gets.
class CompanyProxy {
 public:
  explicit CompanyProxy(std::string answer)
      : server_([this, answer = std::move(answer)](const Fd& socket) {
          std::string head = read_until(socket, "\r\n\r\n");
          {
            const std::lock_guard lock(mutex_);
            heads_.push_back(std::move(head));
          }
          send_text(socket, answer);
          for (;;) {
            const std::string piece = read_bytes(socket, 1);
            if (piece.empty() || !send_text(socket, piece)) return;
          }
        }) {}
  /// For what https and http go by, with a user.
  ProxySettings settings(const std::string& no_proxy = {}) const {
    const std::string address = "http://ci:secret%20word@" + server_.place();
    return {.https_proxy = address, .no_proxy = no_proxy, .http_proxy = address + "/"};
  }
  std::vector<std::string> heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
  }
  int connections() const { return server_.connections(); }
  int port() const { return server_.port(); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  LoopbackServer server_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(upstream)

BOOST_AUTO_TEST_CASE(a_listed_name_goes_through_the_proxy_ahead_and_is_looked_up_by_it) {
  const CompanyProxy company("HTTP/1.1 200 Fine\r\nX-Node: 7\r\n\r\nearly");
  ProxyFixture proxy({"*.example.org"}, {}, company.settings());
  const Fd socket = proxy.connect();
  send_text(socket, connect_request("a.example.org:443"));

  BOOST_TEST(read_until(socket, "early") == "HTTP/1.1 200 Connection established\r\n\r\nearly");
  send_text(socket, "hello");
  BOOST_TEST(read_bytes(socket, 5) == "hello");
  end_sending(socket);
  BOOST_TEST(read_all(socket) == "");

  BOOST_TEST(company.heads() == std::vector<std::string>{"CONNECT a.example.org:443 HTTP/1.1\r\n"
                                                         "Host: a.example.org:443\r\n"
                                                         "Proxy-Authorization: " +
                                                         std::string(kAuthorization) + "\r\n\r\n"},
             boost::test_tools::per_element());
  BOOST_TEST(proxy.resolver().calls() == 0);
  const auto reports = proxy.wait_for_ends(1);
  BOOST_REQUIRE(reports.size() == 2u);
  BOOST_TEST((reports[0].state == State::opened));
  BOOST_TEST(reports[1].host == "a.example.org");
  BOOST_TEST(reports[1].rule == "*.example.org");
  BOOST_TEST(reports[1].address == "127.0.0.1");
  BOOST_TEST(reports[1].sent_bytes == 5u);
  BOOST_TEST(reports[1].received_bytes == 10u);
}

BOOST_AUTO_TEST_CASE(what_the_list_refuses_never_reaches_the_proxy_ahead) {
  const CompanyProxy company("HTTP/1.1 200 Fine\r\n\r\n");
  ProxyFixture proxy({"*", "*:80", "one.example:8443", "10.0.0.2:443"}, {}, company.settings());
  for (const char* place :
       {"one.example:22", "10.0.0.1:443", "169.254.169.254:443", "[fd00::1]:443", "127.1:443",
        "2130706433:443", "metadata.google.internal:443", "192.168.0.1:80"})
    BOOST_TEST(!holds(proxy.ask(connect_request(place)), "200 Connection"), place);
  BOOST_TEST(holds(proxy.ask("GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n"), " 403 "));
  BOOST_TEST(company.connections() == 0);

  // A listed one does.
  const Fd socket = proxy.connect();
  send_text(socket, connect_request("10.0.0.2:443"));
  BOOST_TEST(holds(read_until(socket, "\r\n\r\n"), " 200 "));
  BOOST_TEST(company.connections() == 1);
}

BOOST_AUTO_TEST_CASE(a_plain_request_goes_there_in_absolute_form_with_the_operators_credentials) {
  const CompanyProxy company("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  ProxyFixture proxy({"a.example.org:80"}, {}, company.settings());

  const std::string answer = proxy.ask(
      "GET http://a.example.org/x?y HTTP/1.1\r\nHost: a.example.org\r\n"
      "Proxy-Authorization: Basic bWluZQ==\r\nConnection: close\r\n\r\n");

  BOOST_TEST(answer.ends_with("\r\n\r\nhi"), answer);
  BOOST_REQUIRE(company.heads().size() == 1u);
  BOOST_TEST(company.heads()[0] ==
             "GET http://a.example.org/x?y HTTP/1.1\r\nHost: a.example.org\r\n"
             "Proxy-Authorization: " +
                 std::string(kAuthorization) + "\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(a_refusal_of_the_proxy_ahead_says_so_and_nothing_of_its_own) {
  const std::string body = "Content-Length: 18\r\n\r\nci:secret word: no";
  const struct {
    const char* name;
    std::string answer;
    const char* said;
  } rows[] = {
      {"another user", "HTTP/1.1 407 Nope\r\nProxy-Authenticate: Basic realm=\"corp\"\r\n" + body,
       "407, it wants another user"},
      {"not this host", "HTTP/1.1 403 Nope\r\n" + body, "403, it does not let this host"},
      {"no gateway", "HTTP/1.1 502 Nope\r\n" + body, "refused the tunnel: 502"},
      {"no HTTP", "SSH-2.0-x\r\n\r\n", "no answer that can be read"},
      {"a first line that never ends", std::string(70'000, 'x'), "no answer that can be read"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const CompanyProxy company(row.answer);
      ProxyFixture proxy({"a.example.org"}, {}, company.settings());

      const std::string answer = proxy.ask(connect_request("a.example.org:443"));

      BOOST_TEST(answer.starts_with("HTTP/1.1 502 "), answer);
      BOOST_TEST(holds(answer, row.said), answer);
      for (const char* own : {"secret", "corp", "Nope", "Y2k6", "SSH"})
        BOOST_TEST(!holds(answer, own), answer);
      const auto reports = proxy.wait_for_ends(1);
      BOOST_TEST((reports.back().state == State::closed));
      BOOST_TEST(reports.back().sent_bytes == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_refused_plain_request_is_no_demand_for_the_commands_password) {
  const CompanyProxy company(
      "HTTP/1.1 407 Nope\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n");
  ProxyFixture proxy({"a.example.org:80"}, {}, company.settings());

  const std::string answer =
      proxy.ask("GET http://a.example.org/ HTTP/1.1\r\nHost: a.example.org\r\n\r\n");

  BOOST_TEST(answer.starts_with("HTTP/1.1 502 "), answer);
}

BOOST_AUTO_TEST_CASE(what_no_proxy_names_is_reached_directly_and_judged_by_its_address) {
  const CompanyProxy company("HTTP/1.1 200 Fine\r\n\r\n");
  const LoopbackServer server([](const Fd& socket) { send_text(socket, "direct"); });
  const std::string port = std::to_string(server.port());
  ProxyFixture proxy({"inside.example:" + port, "*.wild.example:" + port}, {},
                     company.settings("inside.example,.wild.example"));
  proxy.resolver().set("inside.example", {{"127.0.0.1"}});
  proxy.resolver().set("a.wild.example", {{"127.0.0.1"}});

  const Fd socket = proxy.connect();
  send_text(socket, connect_request("inside.example:" + port));

  BOOST_TEST(holds(read_until(socket, "direct"), " 200 "));
  BOOST_TEST(holds(proxy.ask(connect_request("a.wild.example:" + port)), " 403 "));
  BOOST_TEST(company.connections() == 0);
}

BOOST_AUTO_TEST_CASE(the_proxy_ahead_may_have_a_name_and_may_be_down) {
  const CompanyProxy company("HTTP/1.1 200 Fine\r\n\r\n");
  const auto ahead = [&](const std::string& host) {
    return ProxySettings{.https_proxy = "http://" + host + ":" + std::to_string(company.port())};
  };
  ProxyFixture proxy({"a.example.org"}, {}, ahead("proxy.corp"));
  proxy.resolver().set("proxy.corp", {{"127.0.0.1"}});
  const Fd socket = proxy.connect();
  send_text(socket, connect_request("a.example.org:443"));
  BOOST_TEST(holds(read_until(socket, "\r\n\r\n"), " 200 "));
  BOOST_TEST(company.heads().at(0) ==
             "CONNECT a.example.org:443 HTTP/1.1\r\nHost: a.example.org:443\r\n\r\n");

  ProxyFixture unknown({"a.example.org"}, {}, ahead("nobody.corp"));
  BOOST_TEST(holds(unknown.ask(connect_request("a.example.org:443")), "can't be found"));
  const int free_port = listen_on_loopback().port;
  ProxyFixture down({"a.example.org"}, {},
                    {.https_proxy = "127.0.0.1:" + std::to_string(free_port)});
  BOOST_TEST(holds(down.ask(connect_request("a.example.org:443")), "can't be reached"));
}

BOOST_AUTO_TEST_SUITE_END()
