#include "policies/egress/http/proxy_messages.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

using Kind = BodyFraming::Kind;
using Read = std::variant<ServerResponse, std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(server_response)

BOOST_AUTO_TEST_CASE(a_response_says_how_long_its_body_is) {
  const struct {
    const char* name;
    const char* head;
    const char* method;
    BodyFraming body;
  } rows[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "GET", {Kind::length, 5}},
      {"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", {Kind::chunked}},
      {"to the end", "HTTP/1.1 200 OK\r\n\r\n", "GET", {Kind::until_close}},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n", "GET", {Kind::until_close}},
      {"no phrase", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "GET", {Kind::length, 0}},
      {"no blank", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "GET", {Kind::length, 0}},
      {"to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD", {Kind::none}},
      {"204", "HTTP/1.1 204 No\r\n\r\n", "GET", {Kind::none}},
      {"304", "HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", "GET", {Kind::none}},
      {"interim", "HTTP/1.1 100 Continue\r\n\r\n", "POST", {Kind::none}},
      {"error", "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", "GET", {Kind::length, 9}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Read read = read_server_response(row.head, row.method);
      BOOST_REQUIRE(read.index() == 0u);
      BOOST_TEST((std::get<0>(read).body == row.body));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_response_that_could_mislead_is_not_passed_on) {
  for (const char* head :
       {"",
        "\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 2\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\n\n",
        "HTTP/1.1 200 OK\r\nA\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 204 No\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\n"}) {
    BOOST_TEST_CONTEXT(head) { BOOST_TEST(read_server_response(head, "GET").index() == 1u); }
  }
}

BOOST_AUTO_TEST_CASE(the_client_gets_a_head_made_anew) {
  const auto read = read_server_response(
      "HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"
      "Proxy-Authenticate: Basic\r\nX-End: 2\r\nContent-Length: 3\r\n\r\n",
      "GET");
  const auto& response = std::get<ServerResponse>(read);
  BOOST_TEST(returned_head(response, response.body, true) ==
             "HTTP/1.1 200 Fine\r\nX-End: 2\r\nContent-Length: 3\r\nVia: 1.1 sortie\r\n\r\n");
  BOOST_TEST(returned_head(response, {Kind::chunked}, false) ==
             "HTTP/1.1 200 Fine\r\nX-End: 2\r\nTransfer-Encoding: chunked\r\nVia: 1.1 sortie\r\n"
             "Connection: close\r\n\r\n");
  const auto head = read_server_response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD");
  BOOST_TEST(returned_head(std::get<0>(head), {}, true) ==
             "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nVia: 1.1 sortie\r\n\r\n");
}

BOOST_AUTO_TEST_SUITE_END()
