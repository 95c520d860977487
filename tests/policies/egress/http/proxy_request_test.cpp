#include "policies/egress/http/proxy_messages.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

using Read = std::variant<ProxyRequest, RequestRefusal>;

const ProxyRequest& request_of(const Read& read) {
  if (const auto* refusal = std::get_if<RequestRefusal>(&read))
    throw std::runtime_error(std::to_string(refusal->status) + " " + refusal->reason);
  return std::get<ProxyRequest>(read);
}

int status_of(const Read& read) {
  const auto* refusal = std::get_if<RequestRefusal>(&read);
  return refusal ? refusal->status : 0;
}

/// A plain request with these lines after its own Host field.
std::string get(const std::string& lines) {
  return "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n" + lines + "\r\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_request)

BOOST_AUTO_TEST_CASE(targets_are_taken_apart) {
  const struct {
    const char* line;
    const char* place;
    const char* target;
  } rows[] = {
      {"CONNECT a.example:443 HTTP/1.1", "a.example:443", ""},
      {"CONNECT A.Example.:443 HTTP/1.1", "a.example:443", ""},
      {"CONNECT [2001:db8::1]:443 HTTP/1.1", "[2001:db8::1]:443", ""},
      {"CONNECT 192.0.2.1:22 HTTP/1.0", "192.0.2.1:22", ""},
      {"GET http://a.example HTTP/1.1", "a.example:80", "/"},
      {"GET http://a.example/ HTTP/1.1", "a.example:80", "/"},
      {"GET HTTP://A.EXAMPLE/Path HTTP/1.1", "a.example:80", "/Path"},
      {"GET http://a.example:8080/x?y=z HTTP/1.1", "a.example:8080", "/x?y=z"},
      {"GET http://a.example?y HTTP/1.1", "a.example:80", "/?y"},
      {"GET http://a.example/a/../b HTTP/1.1", "a.example:80", "/a/../b"},
      {"GET http://a.example//evil.example/ HTTP/1.1", "a.example:80", "//evil.example/"},
      {"GET http://a.example/http://b.example/ HTTP/1.1", "a.example:80", "/http://b.example/"},
      {"GET http://a.example/@b.example HTTP/1.1", "a.example:80", "/@b.example"},
      {"GET http://a.example/\\b HTTP/1.1", "a.example:80", "/\\b"},
      {"GET http://[::1]:80/ HTTP/1.1", "[::1]:80", "/"},
      {"OPTIONS http://a.example HTTP/1.1", "a.example:80", "*"},
      {"OPTIONS http://a.example/ HTTP/1.1", "a.example:80", "/"},
      {"PROPFIND http://a.example/dav HTTP/1.1", "a.example:80", "/dav"},
      {"GET http://a.example/ HTTP/1.0", "a.example:80", "/"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      const Read read = read_proxy_request(std::string(row.line) + "\r\nHost: a.example\r\n\r\n");
      BOOST_REQUIRE(status_of(read) == 0);
      const ProxyRequest& request = request_of(read);
      BOOST_TEST(authority_text(request.place.host, request.place.port) == row.place);
      BOOST_TEST(request.target == row.target);
    }
  }
}

BOOST_AUTO_TEST_CASE(request_lines_that_could_mislead_are_refused) {
  const struct {
    std::string line;
    int status = 400;
  } rows[] = {
      {""},
      {" "},
      {"GET"},
      {"GET HTTP/1.1"},
      {"GET http://a.example/"},
      {" GET http://a.example/ HTTP/1.1"},
      {"GET  http://a.example/ HTTP/1.1"},
      {"GET http://a.example/  HTTP/1.1"},
      {"GET\thttp://a.example/\tHTTP/1.1"},
      {"GET http://a.example/ HTTP/1.1 "},
      {"GET http://a.example/ x HTTP/1.1"},
      {"GET http://a.example/ HTTP/1.2", 505},
      {"GET http://a.example/ HTTP/2", 505},
      {"GET http://a.example/ HTTP/2.0", 505},
      {"GET http://a.example/ HTTP/0.9", 505},
      {"GET http://a.example/ http/1.1", 505},
      {"GET http://a.example/ HTTP/1.10", 505},
      {"GET http://a.example/ HTTP/11", 505},
      {"PRI * HTTP/2.0", 505},
      {"G(T http://a.example/ HTTP/1.1"},
      {"G\xc3\x89T http://a.example/ HTTP/1.1"},
      {std::string(33, 'G') + " http://a.example/ HTTP/1.1"},
      {"GET / HTTP/1.1"},
      {"GET a.example HTTP/1.1"},
      {"GET a.example:443 HTTP/1.1"},
      {"GET //a.example/ HTTP/1.1"},
      {"GET http:/a.example/ HTTP/1.1"},
      {"GET http:a.example/ HTTP/1.1"},
      {"OPTIONS * HTTP/1.1"},
      {"GET https://a.example/ HTTP/1.1", 501},
      {"GET ftp://a.example/ HTTP/1.1", 501},
      {"GET file:///etc/passwd HTTP/1.1", 501},
      {"GET ws://a.example/ HTTP/1.1", 501},
      {"GET http:// HTTP/1.1"},
      {"GET http:/// HTTP/1.1"},
      {"GET http://:80/ HTTP/1.1"},
      {"GET http://user@a.example/ HTTP/1.1"},
      {"GET http://user:secret@a.example/ HTTP/1.1"},
      {"GET http://a.example@b.example/ HTTP/1.1"},
      {"GET http://a.example:80@b.example/ HTTP/1.1"},
      {"GET http://a.example\\@b.example/ HTTP/1.1"},
      {"GET http://a.example\\b.example/ HTTP/1.1"},
      {"GET http://a.example#@b.example/ HTTP/1.1"},
      {"GET http://a.example/#x HTTP/1.1"},
      {"GET http://a.example:/ HTTP/1.1"},
      {"GET http://a.example:0/ HTTP/1.1"},
      {"GET http://a.example:99999/ HTTP/1.1"},
      {"GET http://a.example:80:80/ HTTP/1.1"},
      {"GET http://a%2eexample/ HTTP/1.1"},
      {"GET http://a.example%00.b.example/ HTTP/1.1"},
      {"GET http://\xc3\xa4.example/ HTTP/1.1"},
      {"GET http://a.example/\xc3\xa4 HTTP/1.1"},
      {"GET http://2130706433/ HTTP/1.1"},
      {"GET http://0x7f.1/ HTTP/1.1"},
      {"GET http://0177.0.0.1/ HTTP/1.1"},
      {"GET http://127.1/ HTTP/1.1"},
      {"GET http://[::ffff:127.0.0.1]/ HTTP/1.1"},
      {"GET http://[fe80::1%25eth0]/ HTTP/1.1"},
      {"GET http://::1/ HTTP/1.1"},
      {"CONNECT a.example HTTP/1.1"},
      {"CONNECT a.example: HTTP/1.1"},
      {"CONNECT :443 HTTP/1.1"},
      {"CONNECT a.example:443/ HTTP/1.1"},
      {"CONNECT http://a.example:443 HTTP/1.1"},
      {"CONNECT http://a.example/ HTTP/1.1"},
      {"CONNECT user@a.example:443 HTTP/1.1"},
      {"CONNECT a.example:443@b.example:443 HTTP/1.1"},
      {"CONNECT a.example:443:443 HTTP/1.1"},
      {"CONNECT a.example:https HTTP/1.1"},
      {"CONNECT 0x7f000001:443 HTTP/1.1"},
      {"CONNECT 127.1:443 HTTP/1.1"},
      {"CONNECT [::ffff:10.0.0.1]:443 HTTP/1.1"},
      {"CONNECT ::1:443 HTTP/1.1"},
      {"CONNECT a..example:443 HTTP/1.1"},
      {"CONNECT *.example:443 HTTP/1.1"},
      {"CONNECT a_b.example:443?x HTTP/1.1"},
      {"connect a.example:443 HTTP/1.1"},
      {"CONNECT a.example:443 HTTP/1.1\r"},
      {std::string("CONNECT a.example\0.b.example:443 HTTP/1.1", 40)},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      const Read read = read_proxy_request(row.line + "\r\nHost: a.example\r\n\r\n");
      BOOST_TEST(status_of(read) == row.status);
    }
  }
}

BOOST_AUTO_TEST_CASE(fields_that_could_mislead_are_refused) {
  const struct {
    std::string head;
    int status = 400;
  } rows[] = {
      {"GET http://a.example/ HTTP/1.1\r\n\r\n"},  // no Host
      {get("Host: a.example\r\n")},                // two
      {get("HOST: b.example\r\n")},
      {get(" folded: x\r\n")},
      {get("A: b\r\n c\r\n")},
      {get("A: b\r\n\tc\r\n")},
      {get("A : b\r\n")},
      {get("A\t: b\r\n")},
      {get(": b\r\n")},
      {get("A\r\n")},
      {get("A b: c\r\n")},
      {get("A(: b\r\n")},
      {get("\xc3\xa4: b\r\n")},
      {get("A: b\x01\r\n")},
      {get("A: b\x7f\r\n")},
      {get("A: b\rc\r\n")},
      {get("A: b\nc: d\r\n")},
      {get(std::string("A: b\0c\r\n", 8))},
      {get("A: b\r\r\n")},
      {"GET http://a.example/ HTTP/1.1\nHost: a.example\n\n"},
      {"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\n"},
      {"GET http://a.example/ HTTP/1.1\r\nHost: a.example\n\r\n"},
      {"\r\nGET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"},
      {get("") + "x"},
      {"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n"},
      {get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")},
      {get("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")},
      {get("Content-Length: 5\r\nContent-Length: 5\r\n")},
      {get("Content-Length: 5\r\ncontent-length: 6\r\n")},
      {get("Content-Length: 5, 5\r\n")},
      {get("Content-Length: -5\r\n")},
      {get("Content-Length: +5\r\n")},
      {get("Content-Length: 0x5\r\n")},
      {get("Content-Length: 5 5\r\n")},
      {get("Content-Length: 5.0\r\n")},
      {get("Content-Length:\r\n")},
      {get("Content-Length: 1234567890123456789\r\n")},
      {get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {get("Transfer-Encoding: chunked, chunked\r\n")},
      {get("Transfer-Encoding: gzip, chunked\r\n")},
      {get("Transfer-Encoding: identity\r\n")},
      {get("Transfer-Encoding: xchunked\r\n")},
      {get("Transfer-Encoding:\x0b"
           "chunked\r\n")},
      {get("Transfer-Encoding: \"chunked\"\r\n")},
      {get("Transfer-Encoding:\r\n")},
      {"POST http://a.example/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {get("Upgrade: websocket\r\nConnection: Upgrade\r\n"), 501},
      {get("Upgrade: h2c, websocket\r\n"), 501},
      {get("Expect: something\r\n"), 417},
      {"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nContent-Length: 5\r\n\r\n"},
      {"CONNECT a.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.head) {
      BOOST_TEST(status_of(read_proxy_request(row.head)) == row.status);
    }
  }
  std::string many;
  for (int i = 0; i < 129; ++i) many += "A: b\r\n";
  BOOST_TEST(status_of(read_proxy_request(get(many))) == 431);
}

BOOST_AUTO_TEST_CASE(a_tunnel_needs_no_host_field_and_follows_none) {
  for (const char* fields :
       {"", "Host: a.example:443\r\n", "Host: a.example\r\n", "Host: other.example\r\n",
        "Host:\r\n", "Content-Length: 0\r\n", "Proxy-Connection: keep-alive\r\n"}) {
    BOOST_TEST_CONTEXT(fields) {
      const Read read =
          read_proxy_request(std::string("CONNECT a.example:443 HTTP/1.1\r\n") + fields + "\r\n");
      BOOST_REQUIRE(status_of(read) == 0);
      BOOST_TEST(request_of(read).place.host.name == "a.example");
      BOOST_TEST((request_of(read).form == ProxyRequest::Form::tunnel));
    }
  }
}

BOOST_AUTO_TEST_CASE(bodies_are_framed_once) {
  using Kind = BodyFraming::Kind;
  const struct {
    const char* fields;
    BodyFraming body;
  } rows[] = {
      {"", {Kind::none, 0}},
      {"Content-Length: 0\r\n", {Kind::length, 0}},
      {"content-length: 17\r\n", {Kind::length, 17}},
      {"Content-Length: \t 17 \t\r\n", {Kind::length, 17}},
      {"Content-Length: 007\r\n", {Kind::length, 7}},
      {"Content-Length: 999999999999999999\r\n", {Kind::length, 999999999999999999ull}},
      {"Transfer-Encoding: chunked\r\n", {Kind::chunked, 0}},
      {"transfer-encoding:CHUNKED\r\n", {Kind::chunked, 0}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.fields) {
      const Read read = read_proxy_request(get(row.fields));
      BOOST_REQUIRE(status_of(read) == 0);
      BOOST_TEST((request_of(read).body == row.body));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_server_gets_a_head_made_anew) {
  const struct {
    const char* name;
    std::string head;
    std::string forwarded;
  } rows[] = {
      {"host follows the target",
       "GET http://A.example:8080/x HTTP/1.1\r\nHost: other.example\r\n\r\n",
       "GET /x HTTP/1.1\r\nHost: a.example:8080\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\n"},
      {"the usual port is left out",
       "GET http://a.example:80/ HTTP/1.1\r\nHost: a.example:80\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: a.example\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\n"},
      {"an IPv6 address keeps its brackets", "GET http://[::1]/ HTTP/1.1\r\nHost: x\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: [::1]\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\n"},
      {"HTTP/1.0 goes on as 1.1", "GET http://a.example/ HTTP/1.0\r\nExpect: 100-continue\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: a.example\r\nVia: 1.1 sortie\r\nConnection: close\r\n\r\n"},
      {"fields for this hop stay here",
       get("Accept: */*\r\nProxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\n"
           "Connection: Keep-Alive, X-Hop\r\nKeep-Alive: 5\r\nTE: trailers\r\nTrailer: X\r\n"
           "X-Hop: 1\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nX-End: 2\r\n"),
       "GET / HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nX-End: 2\r\nVia: 1.1 sortie\r\n"
       "Connection: close\r\n\r\n"},
      {"naming framing in Connection does not take it away",
       get("Connection: Content-Length, Host\r\nContent-Length: 3\r\n"),
       "GET / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nVia: 1.1 sortie\r\n"
       "Connection: close\r\n\r\n"},
      {"chunks", get("Transfer-Encoding: CHUNKED\r\nA:\tb \r\n"),
       "GET / HTTP/1.1\r\nHost: a.example\r\nA: b\r\nTransfer-Encoding: chunked\r\n"
       "Via: 1.1 sortie\r\nConnection: close\r\n\r\n"},
      {"an expectation", get("Expect: 100-Continue\r\nContent-Length: 1\r\n"),
       "GET / HTTP/1.1\r\nHost: a.example\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n"
       "Via: 1.1 sortie\r\nConnection: close\r\n\r\n"},
      {"a credential of the command's own", get("Authorization: Bearer x\r\n"),
       "GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer x\r\nVia: 1.1 sortie\r\n"
       "Connection: close\r\n\r\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Read read = read_proxy_request(row.head);
      BOOST_REQUIRE(status_of(read) == 0);
      BOOST_TEST(forwarded_head(request_of(read)) == row.forwarded);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_client_says_whether_it_goes_on) {
  const struct {
    std::string head;
    bool keep_alive;
  } rows[] = {
      {get(""), true},
      {get("Connection: keep-alive\r\n"), true},
      {get("Connection: close\r\n"), false},
      {get("Connection: x, CLOSE\r\n"), false},
      {get("Connection: x\r\nConnection: close\r\n"), false},
      {get("Proxy-Connection: close\r\n"), false},
      {"GET http://a.example/ HTTP/1.0\r\n\r\n", false},
      {"GET http://a.example/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.head) {
      BOOST_TEST(request_of(read_proxy_request(row.head)).keep_alive == row.keep_alive);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_head_ends_with_an_empty_line) {
  using Found = HeadEnd::Found;
  const struct {
    std::string bytes;
    Found found;
    std::size_t size = 0;
  } rows[] = {
      {"", Found::incomplete},
      {"GET", Found::incomplete},
      {"GET\r", Found::incomplete},
      {"GET\r\n", Found::incomplete},
      {"GET\r\n\r", Found::incomplete},
      {"GET\r\n\r\n", Found::complete, 7},
      {"GET\r\nA: b\r\n\r\nrest\n", Found::complete, 13},
      {"\r\n", Found::incomplete},
      {"\r\n\r\n", Found::complete, 4},
      {"\n", Found::malformed},
      {"GET\n", Found::malformed},
      {"GET\rX", Found::malformed},
      {"GET\r\r\n", Found::malformed},
      {"GET\r\n\n", Found::malformed},
      {std::string("G\0T", 3), Found::malformed},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.bytes) {
      const HeadEnd end = find_head_end(row.bytes);
      BOOST_TEST((end.found == row.found));
      BOOST_TEST(end.size == row.size);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
