#include "core/net/http_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "tests/support/model_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_authority.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using Ending = HttpResult::Ending;
using Then = ServedResponse::Then;

namespace {

/// Keeps what came; has enough after `wanted` bytes.
struct Collected : HttpSink {
  HttpHead head;
  std::string body;
  std::size_t wanted = std::string::npos;
  std::stop_source stop_at_first_byte{std::nostopstate};

  void on_head(const HttpHead& received) override { head = received; }
  Wants on_body(std::string_view bytes) override {
    body += bytes;
    if (stop_at_first_byte.stop_possible()) stop_at_first_byte.request_stop();
    return body.size() >= wanted ? Wants::enough : Wants::more;
  }
};

HttpRequest request_to(const std::string& url, std::string_view body = "{}") {
  return {.url = parse_url(url), .headers = {{"Authorization", "Bearer k"}}, .body = body};
}

HttpResult send(Http& http, const std::string& url, HttpSink& sink, const HttpLimits& limits = {},
                std::string_view body = "{}") {
  return http.send(request_to(url, body), limits, sink, {});
}

/// A server that answers each connection at once, reads nothing and keeps it open.
class DeafServer {
 public:
  explicit DeafServer(std::string answer) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    BOOST_REQUIRE(::bind(listener_.get(), plain, size) == 0);
    BOOST_REQUIRE(::listen(listener_.get(), 1) == 0);
    BOOST_REQUIRE(::getsockname(listener_.get(), plain, &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const Fd peer(::accept(listener_.get(), nullptr, nullptr));
      if (!peer) return;
      ::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      // A peer that is closed is not seen behind what nobody reads.
      pollfd wait{ended_.get(), POLLIN, 0};
      ::poll(&wait, 1, -1);
    });
  }
  ~DeafServer() {
    ::eventfd_write(ended_.get(), 1);
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  Fd listener_;
  Fd ended_{::eventfd(0, EFD_CLOEXEC)};
  int port_ = 0;
  std::thread thread_;
};

/// A loopback port that nobody listens on.
int closed_port() {
  const ModelServer server({});
  return server.port();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_client)

BOOST_AUTO_TEST_CASE(names_below_localhost_are_loopbacks_and_looked_up_nowhere) {
  for (const char* host : {"localhost", "never-in-any-dns.localhost", "a.b.localhost"}) {
    BOOST_TEST_CONTEXT(host) {
      ModelServer server({served_stream("data: 1\n\n")});
      server.take_any_request();
      HttpClient http;
      Collected sink;
      const std::string port = server.url().substr(server.url().rfind(':'));

      const HttpResult result = send(http, std::string("http://") + host + port + "/v1", sink);

      BOOST_TEST((result.ending == Ending::complete), result.detail);
      BOOST_TEST(sink.body == "data: 1\n\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_goes_out_whole_and_its_response_comes_back) {
  ModelServer server({served_stream("data: 1\n\n")});
  server.take_any_request();
  HttpClient http;
  Collected sink;
  const std::string body(3u << 20, 'x');

  const HttpResult result = send(http, server.url() + "/v1/responses", sink, {}, body);

  BOOST_TEST((result.ending == Ending::complete), result.detail);
  BOOST_TEST(sink.head.status == 200);
  BOOST_TEST(sink.body == "data: 1\n\n");
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 1u);
  BOOST_TEST(requests[0].line == "POST /v1/responses HTTP/1.1");
  BOOST_TEST((requests[0].body == body));
  BOOST_TEST(header_value(requests[0].headers, "accept-encoding") == "identity");
  BOOST_TEST(header_value(requests[0].headers, "authorization") == "Bearer k");
  BOOST_TEST(header_value(requests[0].headers, "host") ==
             "127.0.0.1:" + std::to_string(server.port()));
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_while_the_request_goes_out_ends_the_sending) {
  DeafServer server("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlong");
  const std::string body(64u << 20, 'x');
  Collected sink;

  {
    HttpClient http;
    const HttpResult result = send(http, server.url(), sink, {.first_byte = 60s}, body);
    BOOST_TEST((result.ending == Ending::complete), result.detail);
  }

  BOOST_TEST(sink.head.status == 413);
  BOOST_TEST(sink.body == "long");
}

BOOST_AUTO_TEST_CASE(bodies_come_whole_in_each_framing_and_any_pieces) {
  const std::string body(5000, 'y');
  const std::vector<ServedResponse> forms = {served_stream(body, true), served_stream(body, false),
                                             served_status(200, {}, body)};
  for (ServedResponse form : forms) {
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{700}}) {
      form.piece = piece;
      ModelServer server({form});
      HttpClient http;
      Collected sink;
      const HttpResult result = send(http, server.url(), sink);
      BOOST_TEST((result.ending == Ending::complete), result.detail);
      BOOST_TEST((sink.body == body));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_connection_serves_many_requests) {
  ModelServer server({served_stream("a"), served_status(429, {}, "b"), served_stream("c")});
  HttpClient http;
  for (int i = 0; i < 3; ++i) {
    Collected sink;
    BOOST_TEST((send(http, server.url(), sink).ending == Ending::complete));
  }
  BOOST_TEST(server.connections() == 1);
}

BOOST_AUTO_TEST_CASE(a_kept_connection_that_the_server_closed_is_replaced_unseen) {
  ServedResponse closes = served_status(200, {}, "a");
  closes.then = Then::close;  // without having said so
  ModelServer server({closes, served_status(200, {}, "b")});
  HttpClient http;
  Collected first;
  Collected second;

  send(http, server.url(), first);
  const HttpResult result = send(http, server.url(), second);

  BOOST_TEST((result.ending == Ending::complete), result.detail);
  BOOST_TEST(second.body == "b");
  BOOST_TEST(server.connections() == 2);
}

BOOST_AUTO_TEST_CASE(a_kept_connection_that_closes_on_the_next_request_is_replaced_once) {
  // The server reads the second request and hangs up; the third has its answer.
  ServedResponse hangs_up{.bytes = "", .then = Then::close};
  ModelServer server({served_status(200, {}, "a"), hangs_up, served_status(200, {}, "b")});
  HttpClient http;
  Collected first;
  Collected second;

  send(http, server.url(), first);
  const HttpResult result = send(http, server.url(), second);

  BOOST_TEST((result.ending == Ending::complete), result.detail);
  BOOST_TEST(second.body == "b");

  ModelServer rude({hangs_up, served_status(200, {}, "b")});
  Collected third;
  BOOST_TEST((send(http, rude.url(), third).ending == Ending::cut));
  BOOST_TEST(rude.requests().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_sink_that_has_enough_ends_the_exchange) {
  ModelServer server({{.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                       .then = Then::hang},
                      served_status(200, {}, "b")});
  HttpClient http;
  Collected sink;
  sink.wanted = 3;
  Collected next;

  BOOST_TEST((send(http, server.url(), sink).ending == Ending::complete));
  BOOST_TEST(sink.body == "abc");
  BOOST_TEST((send(http, server.url(), next).ending == Ending::complete));
  BOOST_TEST(next.body == "b");
}

BOOST_AUTO_TEST_CASE(broken_responses_are_told_apart) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
  const struct {
    const char* name;
    std::string bytes;
    Ending ending;
  } rows[] = {
      {"no byte", "", Ending::cut},
      {"half a head", "HTTP/1.1 200 OK\r\nA", Ending::cut},
      {"in a chunk", chunked, Ending::cut},
      {"no HTTP", "SSH-2.0-OpenSSH\r\n\r\n", Ending::malformed},
      {"a head of 300 KiB", "HTTP/1.1 200 OK\r\nX: " + std::string(300u << 10, 'x') + "\r\n\r\n",
       Ending::malformed},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ModelServer server({{.bytes = row.bytes, .then = Then::close}});
      HttpClient http;
      Collected sink;
      const HttpResult result = send(http, server.url(), sink);
      BOOST_TEST((result.ending == row.ending), result.detail);
      BOOST_TEST(!result.detail.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_header_of_200_KiB_is_taken) {
  const std::string value(200u << 10, 'x');
  ModelServer server({served_status(200, {{"X-Long", value}}, "a")});
  HttpClient http;
  Collected sink;

  BOOST_TEST((send(http, server.url(), sink).ending == Ending::complete));
  BOOST_TEST((header_value(sink.head.headers, "x-long") == value));
}

BOOST_AUTO_TEST_CASE(every_wait_has_its_limit) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const struct {
    const char* name;
    ServedResponse response;
    HttpLimits limits;
    Ending ending;
  } rows[] = {
      {"no head", {.then = Then::hang}, {.first_byte = 50ms}, Ending::first_byte_timeout},
      {"a head that drips",
       {.bytes = "HTTP/1.1 200 OK\r\n", .then = Then::drip, .drip = "A: b\r\n"},
       {.first_byte = 80ms, .idle = 60s},
       Ending::first_byte_timeout},
      {"silence in the body",
       {.bytes = head + "1\r\na\r\n", .then = Then::hang},
       {.idle = 50ms},
       Ending::idle_timeout},
      {"comments are life, but not for ever",
       {.bytes = head, .then = Then::drip, .drip = "3\r\n:\n\n\r\n"},
       {.idle = 5s, .total = 120ms},
       Ending::total_timeout},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ModelServer server({row.response});
      HttpClient http;
      Collected sink;
      const HttpResult result = send(http, server.url(), sink, row.limits);
      BOOST_TEST((result.ending == row.ending), result.detail);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stop_request_ends_each_wait) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
  ModelServer server({{.bytes = head, .then = Then::hang}, {.then = Then::hang}});
  HttpClient http;
  Collected in_body;
  in_body.stop_at_first_byte = std::stop_source();
  Collected before_head;
  std::stop_source stop;

  const HttpResult first =
      http.send(request_to(server.url()), {}, in_body, in_body.stop_at_first_byte.get_token());
  std::jthread stopper([&] {
    while (server.requests().size() < 2) std::this_thread::yield();
    stop.request_stop();
  });
  const HttpResult second = http.send(request_to(server.url()), {}, before_head, stop.get_token());
  const HttpResult third = http.send(request_to(server.url()), {}, before_head, stop.get_token());

  BOOST_TEST((first.ending == Ending::stopped));
  BOOST_TEST((second.ending == Ending::stopped));
  BOOST_TEST((third.ending == Ending::stopped));
}

BOOST_AUTO_TEST_CASE(a_refused_connection_and_an_unknown_name_are_no_connection) {
  HttpClient http;
  Collected sink;

  const HttpResult refused = send(http, "http://127.0.0.1:" + std::to_string(closed_port()), sink);
  const HttpResult unknown = send(http, "http://no-such-host.invalid", sink, {.connect = 2s});

  BOOST_TEST((refused.ending == Ending::no_connection));
  BOOST_TEST(refused.detail.find("Connection refused") != std::string::npos);
  BOOST_TEST(
      (unknown.ending == Ending::no_connection || unknown.ending == Ending::connect_timeout));
  BOOST_TEST(!unknown.detail.empty());
}

BOOST_AUTO_TEST_CASE(a_connection_that_nobody_accepts_is_given_up) {
  // A listener with a full queue: the kernel drops what comes next, as a dead host does.
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  BOOST_REQUIRE(::bind(listener.get(), plain, size) == 0);
  BOOST_REQUIRE(::listen(listener.get(), 0) == 0);
  BOOST_REQUIRE(::getsockname(listener.get(), plain, &size) == 0);
  std::vector<Fd> queue;
  for (int i = 0; i < 4; ++i) {
    queue.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::connect(queue.back().get(), plain, size);
  }
  HttpClient http;
  Collected sink;

  const HttpResult result = send(
      http, "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), sink, {.connect = 60ms});

  BOOST_TEST((result.ending == Ending::connect_timeout), result.detail);
}

BOOST_AUTO_TEST_CASE(redirects_are_followed_on_the_same_host_only) {
  const auto redirect = [](const std::string& to) {
    return served_status(307, {{"Location", to}}, "");
  };
  ModelServer elsewhere({});
  ModelServer server({redirect("/other?x=1"), served_status(200, {}, "a"),
                      redirect(elsewhere.url() + "/v1"), redirect("//evil.example/"),
                      redirect("/1"), redirect("/2"), redirect("/3"), redirect("/4"),
                      redirect("/5"), redirect("/6"), served_status(303, {{"Location", "/"}}, ""),
                      redirect("/a\rX-More: 1\rb")});
  HttpClient http;
  Collected sinks[6];

  const HttpResult followed = send(http, server.url() + "/v1", sinks[0]);
  const HttpResult other_host = send(http, server.url(), sinks[1]);
  const HttpResult no_scheme = send(http, server.url(), sinks[2]);
  const HttpResult endless = send(http, server.url(), sinks[3]);
  const HttpResult see_other = send(http, server.url(), sinks[4]);
  const HttpResult more_lines = send(http, server.url(), sinks[5]);

  BOOST_TEST((followed.ending == Ending::complete));
  BOOST_TEST(sinks[0].body == "a");
  BOOST_TEST(server.requests()[1].line == "POST /other?x=1 HTTP/1.1");
  BOOST_TEST(server.requests()[1].body == "{}");
  BOOST_TEST((other_host.ending == Ending::redirect_refused));
  BOOST_TEST((no_scheme.ending == Ending::redirect_refused));
  BOOST_TEST((endless.ending == Ending::redirect_refused));
  BOOST_TEST((see_other.ending == Ending::complete));
  BOOST_TEST(sinks[4].head.status == 303);
  BOOST_TEST(elsewhere.connections() == 0);
  BOOST_TEST((more_lines.ending == Ending::malformed));
  BOOST_TEST(server.requests().size() == 12u);
}

BOOST_AUTO_TEST_CASE(an_exception_of_the_sink_passes_through_and_the_client_goes_on) {
  struct Throwing : HttpSink {
    void on_head(const HttpHead&) override { throw std::runtime_error("sink"); }
    Wants on_body(std::string_view) override { return Wants::more; }
  };
  ModelServer server({served_status(200, {}, "a"), served_status(200, {}, "b")});
  HttpClient http;
  Throwing throwing;
  Collected sink;

  BOOST_CHECK_THROW(send(http, server.url(), throwing), std::runtime_error);
  BOOST_TEST((send(http, server.url(), sink).ending == Ending::complete));
  BOOST_TEST(sink.body == "b");
}

BOOST_AUTO_TEST_CASE(tls_takes_certificates_of_the_authority_for_the_right_host_only) {
  const TemporaryFolder folder;
  const TestAuthority authority(folder.path());
  const auto right = authority.issue("right", "DNS:localhost,IP:127.0.0.1");
  const auto wrong = authority.issue("wrong", "DNS:other.example,IP:127.0.0.9");
  const auto expired = authority.issue("expired", "DNS:localhost,IP:127.0.0.1", -1);
  const struct {
    const char* name;
    ServerCertificate certificate;
    const char* host;
    TrustedCertificates trusted;
    bool taken;
  } rows[] = {
      {"address, bundle", right, "127.0.0.1", {.file = authority.bundle()}, true},
      {"name, bundle", right, "localhost", {.file = authority.bundle()}, true},
      {"hashed folder", right, "localhost", {.folder = authority.hashed_folder()}, true},
      {"wrong name", wrong, "localhost", {.file = authority.bundle()}, false},
      {"wrong address", wrong, "127.0.0.1", {.file = authority.bundle()}, false},
      {"expired", expired, "localhost", {.file = authority.bundle()}, false},
      {"unknown authority", right, "localhost", {}, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ModelServer server({served_stream("a"), served_stream("b", false)}, row.certificate);
      HttpClient http(row.trusted);
      Collected first;
      Collected second;
      const HttpResult result = send(http, server.url(row.host), first);
      if (row.taken) {
        BOOST_TEST((result.ending == Ending::complete), result.detail);
        BOOST_TEST((send(http, server.url(row.host), second).ending == Ending::complete));
        BOOST_TEST(first.body + second.body == "ab");
        BOOST_TEST(server.connections() == 1);
      } else {
        BOOST_TEST((result.ending == Ending::no_connection), result.detail);
        BOOST_TEST(result.detail.find("certificate") != std::string::npos, result.detail);
        BOOST_TEST(server.requests().empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(limits_and_stops_hold_under_tls) {
  const TemporaryFolder folder;
  const TestAuthority authority(folder.path());
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
  ModelServer server({{.bytes = head, .then = Then::hang}, {.bytes = head, .then = Then::hang}},
                     authority.issue("right", "DNS:localhost,IP:127.0.0.1"));
  HttpClient http({.file = authority.bundle()});
  Collected idle;
  Collected stopped;
  stopped.stop_at_first_byte = std::stop_source();
  ModelServer silent({});  // speaks no TLS: it waits for an HTTP request

  BOOST_TEST((send(http, server.url(), idle, {.idle = 50ms}).ending == Ending::idle_timeout));
  BOOST_TEST(
      (http.send(request_to(server.url()), {}, stopped, stopped.stop_at_first_byte.get_token())
           .ending == Ending::stopped));
  const HttpResult handshake =
      send(http, "https://127.0.0.1:" + std::to_string(silent.port()), idle, {.connect = 50ms});
  BOOST_TEST((handshake.ending == Ending::connect_timeout), handshake.detail);
}

BOOST_AUTO_TEST_CASE(a_connection_made_early_carries_the_first_request) {
  const TemporaryFolder folder;
  const TestAuthority authority(folder.path());
  for (const bool tls : {false, true}) {
    BOOST_TEST_CONTEXT((tls ? "https" : "http")) {
      std::optional<ServerCertificate> certificate;
      if (tls) certificate = authority.issue("right", "DNS:localhost,IP:127.0.0.1");
      ModelServer server({served_stream("a")}, certificate);
      HttpClient http({.file = authority.bundle()});
      Collected sink;

      http.connect_early(parse_url(server.url()), 10s);
      while (server.connections() == 0) std::this_thread::yield();
      BOOST_TEST(server.requests().empty());
      const HttpResult result = send(http, server.url(), sink);

      BOOST_TEST((result.ending == Ending::complete), result.detail);
      BOOST_TEST(sink.body == "a");
      BOOST_TEST(server.connections() == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_goes_wrong_early_is_told_by_the_request) {
  Collected sink;
  HttpClient refused;
  const std::string closed = "http://127.0.0.1:" + std::to_string(closed_port());
  refused.connect_early(parse_url(closed), 10s);
  const HttpResult result = send(refused, closed, sink);
  BOOST_TEST((result.ending == Ending::no_connection));
  BOOST_TEST(result.detail.find("Connection refused") != std::string::npos);

  ModelServer other({served_stream("a")});
  HttpClient elsewhere;
  elsewhere.connect_early(parse_url(closed), 10s);
  BOOST_TEST((send(elsewhere, other.url(), sink).ending == Ending::complete));
}

// The other side speaks no TLS, so that the handshake would wait for an hour.
BOOST_AUTO_TEST_CASE(an_early_connection_is_given_up_with_its_request_or_its_client) {
  ModelServer silent({});
  const std::string url = "https://127.0.0.1:" + std::to_string(silent.port());
  const auto connected = [&silent](int count) {
    while (silent.connections() < count) std::this_thread::yield();
  };
  {
    HttpClient http;
    http.connect_early(parse_url(url), 1h);
    connected(1);
    Collected sink;
    std::stop_source stop;
    stop.request_stop();
    BOOST_TEST((http.send(request_to(url), {}, sink, stop.get_token()).ending == Ending::stopped));
  }
  HttpClient unused;
  unused.connect_early(parse_url(url), 1h);
}

BOOST_AUTO_TEST_CASE(certificates_that_cannot_be_read_are_the_environments_fault) {
  ModelServer server({});
  HttpClient http({.file = "/nonexistent/ca.pem"});
  Collected sink;

  BOOST_CHECK_EXCEPTION(send(http, "https://127.0.0.1:" + std::to_string(server.port()), sink),
                        Error,
                        [](const Error& error) { return error.code() == ExitCode::environment; });
}

BOOST_AUTO_TEST_CASE(tls_may_be_prepared_again_and_again) {
  for (int i = 0; i < 3; ++i) {
    prepare_tls();
    BOOST_TEST(::ERR_peek_error() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
