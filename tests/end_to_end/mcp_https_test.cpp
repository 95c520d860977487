// Servers of tools behind TLS and a proxy, and where their tokens go.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/end_to_end/mcp_http_run.h"
#include "tests/support/connect_proxy.h"
#include "tests/support/test_authority.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr const char* kHost = "mcp.test";
constexpr const char* kWithToken = "required: true, bearer_token_env: ISSUES_TOKEN";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Certificates of an authority of the tests' own, made once.
struct Authority {
  TemporaryFolder folder;
  TestAuthority authority{folder.path()};
  ServerCertificate right = authority.issue("right", std::string("DNS:") + kHost + ",IP:127.0.0.1");
  ServerCertificate wrong = authority.issue("wrong", "DNS:other.test");
  static const Authority& instance() {
    static const Authority one;
    return one;
  }
};

ProgramStart trusting(ProgramStart start) {
  start.environment["SSL_CERT_FILE"] = Authority::instance().authority.bundle();
  return start;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mcp_https)

BOOST_AUTO_TEST_CASE(a_server_is_called_over_tls_with_a_certificate_that_is_trusted) {
  const McpRun run;
  const LoopbackHttp server(polite_mcp, Authority::instance().right);
  run.write_policy(McpRun::bounds(server));
  run.write_server(server.url(), kWithToken);

  const ProgramEnd end = run_program(trusting(run.start()));

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(run.output(0) == "found with Bearer [REDACTED:ISSUES_TOKEN] in session-1");
  BOOST_TEST(server.count("DELETE") == 1U);
  BOOST_TEST(!holds(run.everything(end), kMcpToken));
}

BOOST_AUTO_TEST_CASE(a_server_that_can_not_prove_who_it_is_gets_nothing) {
  const struct {
    const char* name;
    const ServerCertificate& certificate;
    bool trusted;
  } rows[] = {
      {"of an unknown authority", Authority::instance().right, false},
      {"for another name", Authority::instance().wrong, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const McpRun run(0);
      const LoopbackHttp server(polite_mcp, row.certificate);
      run.write_policy(McpRun::bounds(server));
      run.write_server(server.url(), kWithToken);

      const ProgramEnd end = run_program(row.trusted ? trusting(run.start()) : run.start());

      BOOST_TEST(end.status == 7, end.errors);
      BOOST_TEST(holds(end.errors, "certificate"), end.errors);
      BOOST_TEST(server.requests().size() == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_behind_a_proxy_is_reached_and_the_proxy_learns_nothing) {
  const struct {
    const char* name;
    const char* user;
    const char* wanted;
  } rows[] = {{"open", "", ""}, {"with credentials", "ci:word@", "Basic Y2k6d29yZA=="}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const McpRun run;
      const LoopbackHttp server(polite_mcp, Authority::instance().right);
      const ConnectProxy proxy(row.wanted);
      run.write_policy(McpRun::bounds(server, kHost));
      run.write_server(server.url("/mcp", kHost), kWithToken);
      ProgramStart start = trusting(run.start());
      start.environment["HTTPS_PROXY"] =
          std::string("http://") + row.user + "127.0.0.1:" + std::to_string(proxy.port());

      const ProgramEnd end = run_program(start);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(run.output(0) == "found with Bearer [REDACTED:ISSUES_TOKEN] in session-1");
      BOOST_TEST(!proxy.requests().empty());
      for (const std::string& head : proxy.requests()) {
        BOOST_TEST(
            head.starts_with("CONNECT mcp.test:" + std::to_string(server.port()) + " HTTP/1.1\r\n"),
            head);
        BOOST_TEST(!holds(head, kMcpToken), head);
      }
      for (const ReceivedRequest& request : server.requests())
        BOOST_TEST(header_value(request.headers, "Proxy-Authorization") == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_loopback_server_is_reached_without_the_proxy) {
  const McpRun run;
  const LoopbackHttp server(polite_mcp);
  const ConnectProxy proxy;
  run.write_policy(McpRun::bounds(server));
  run.write_server(server.url(), kWithToken);
  ProgramStart start = run.start();
  for (const char* name : {"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"})
    start.environment[name] = "http://127.0.0.1:" + std::to_string(proxy.port());

  const ProgramEnd end = run_program(start);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(proxy.requests().empty());
}

BOOST_AUTO_TEST_CASE(a_token_goes_to_the_server_that_it_is_for_and_nowhere_else) {
  LoopbackHttp other([](const ReceivedRequest& request) { return polite_mcp(request); });
  const LoopbackHttp plain(polite_mcp);
  const LoopbackHttp moved(
      [&](const ReceivedRequest&) {
        return served_status(308, {{"Location", plain.url()}}, "");
      },
      Authority::instance().right);
  const LoopbackHttp server(polite_mcp, Authority::instance().right);
  McpRun run;
  run.cassette = CassetteWriter();
  run.cassette.call("mcp__issues__find", Json::object())
      .call("mcp__other__find", Json::object())
      .shell({"env"})
      .next()
      .message("done");
  const auto place = [](const LoopbackHttp& one) {
    return "\"127.0.0.1:" + std::to_string(one.port()) + "\"";
  };
  const auto address = [](const LoopbackHttp& one) { return "\"" + one.url("") + "\""; };
  // Its name is none that is kept from commands anyway.
  run.write("policy.yaml",
            "version: 1\nextends: [auto]\nenvironment: {inherit: all}\nbounds: {mcp: [" +
                address(server) + ", " + address(other) + ", " + address(moved) +
                "], credentials: {MCP_AUTH: [" + place(server) + ", " + place(moved) + "]}}\n");
  run.write_task(run.cassette, "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n" +
                                   ("    issues: {bearer_token_env: MCP_AUTH, url: \"" +
                                    server.url() + "\"}\n    other: {url: \"" + other.url()) +
                                   "\"}\n    moved: {bearer_token_env: MCP_AUTH, url: \"" +
                                   moved.url() + "\"}\n");
  ProgramStart start = trusting(run.start(""));
  start.environment["MCP_AUTH"] = kMcpToken;

  const ProgramEnd end = run_program(start);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(run.output(0) == "found with Bearer [REDACTED:MCP_AUTH] in session-1");
  BOOST_TEST(run.output(1) == "found with  in session-1");
  BOOST_TEST(holds(run.output(2), "PATH="), run.output(2));
  BOOST_TEST(!holds(run.output(2), "MCP_AUTH"), run.output(2));
  BOOST_TEST(plain.requests().size() == 0U);
  BOOST_TEST(holds(end.errors, "redirects"), end.errors);
  BOOST_TEST(!holds(run.everything(end), kMcpToken));
}

BOOST_AUTO_TEST_CASE(a_server_that_repeats_its_token_wherever_it_can_tells_nobody) {
  const std::string said = std::string("my ") + kMcpToken;
  const LoopbackHttp server([&said](const ReceivedRequest& request) {
    if (request.line.starts_with("GET"))
      return served_stream(R"(data: {"jsonrpc":"2.0","method":"notifications/message","params":)"
                           R"({"level":"info","data":")" +
                           said + "\"}}\n\n");
    if (request.line.starts_with("DELETE")) return served_status(500, {}, said);
    const Json message = parse_json(request.body);
    const std::string method = message.string_at("method");
    if (method == "initialize")
      return answer(message["id"], R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
                                   R"("serverInfo":{"name":")" +
                                       said + R"(","version":"1"},"instructions":")" + said +
                                       "\"}");
    if (method == "tools/list")
      return answer(message["id"], R"({"tools":[{"name":"find","description":")" + said +
                                       R"(","inputSchema":{"type":"object"}},)"
                                       R"({"name":"hide","inputSchema":{"type":"object",)"
                                       R"("properties":{")" +
                                       said + R"(":{}}}}]})");
    if (method != "tools/call") return served_status(400, {{"Content-Type", "text/plain"}}, said);
    if (holds(request.body, "refuse"))
      return served_status(500, {{"Content-Type", "text/plain"}}, said);
    return answer(message["id"], R"({"isError":true,"content":[{"type":"resource_link","uri":")" +
                                     said + R"(","name":")" + said +
                                     R"("}],"structuredContent":{")" + said + R"(":")" + said +
                                     "\"}}");
  });
  McpRun run;
  run.cassette = CassetteWriter();
  run.cassette.call("mcp__issues__find", Json::object({{"text", "x"}}))
      .call("mcp__issues__find", Json::object({{"text", "refuse"}}))
      .next()
      .message("done");

  const ProgramEnd end = run.run(server, kWithToken);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "the tool hide is left out: its schema contains a secret"),
             end.errors);
  BOOST_TEST(holds(run.output(0), "my [REDACTED:ISSUES_TOKEN]"), run.output(0));
  BOOST_TEST(holds(run.output(1), "my [REDACTED:ISSUES_TOKEN]"), run.output(1));
  BOOST_TEST(!holds(run.everything(end), kMcpToken));
}

BOOST_AUTO_TEST_SUITE_END()
