// The program with servers of tools that are reached over HTTP.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/mcp_http_run.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/everything_server.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mcp_http)

BOOST_AUTO_TEST_CASE(a_server_is_called_with_its_token_and_the_session_is_ended) {
  const McpRun run;
  LoopbackHttp server(polite_mcp);

  const ProgramEnd end = run.run(server, "bearer_token_env: ISSUES_TOKEN");

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  // The server repeats the token: nobody sees it.
  BOOST_TEST(run.output(0) == "found with Bearer [REDACTED:ISSUES_TOKEN] in session-1");
  BOOST_TEST(!holds(run.everything(end), kMcpToken));
  for (const ReceivedRequest& request : server.requests())
    BOOST_TEST(header_value(request.headers, "Authorization") ==
               "Bearer " + std::string(kMcpToken));
  BOOST_TEST(server.requests().back().line == "DELETE /mcp HTTP/1.1");
  BOOST_TEST(header_value(server.requests().back().headers, "MCP-Protocol-Version") ==
             "2025-06-18");
  BOOST_TEST(run.states() == "started ended");
}

BOOST_AUTO_TEST_CASE(a_run_uses_the_reference_server,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  EverythingServer everything(packages);
  const ProviderRun run;
  run.write("policy.yaml", "version: 1\nextends: [auto]\nbounds: {mcp: [\"" +
                               everything.url().substr(0, everything.url().find("/mcp")) +
                               "\"]}\n");
  run.write("task.yaml",
            "version: 1\nprompt: Do it.\nworkspace: {path: work}\npolicy: policy.yaml\n"
            "expect: {changes: any}\nmodel: {retries: 1}\ntools:\n  mcp:\n    all: {url: \"" +
                everything.url() + "\", required: true}\n");
  CassetteWriter cassette;
  cassette.call("mcp__all__echo", Json::object({{"message", "hello"}}))
      .call("mcp__all__get-sum", Json::object({{"a", 2}, {"b", 3}}))
      .call("mcp__all__get-tiny-image", Json::object())
      .next();
  cassette.call("mcp__all__get-structured-content", Json::object({{"location", "New York"}}))
      .next();
  cassette.message("done");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto requests = server.requests();
  BOOST_TEST_REQUIRE(requests.size() == 3U);
  BOOST_TEST(holds(requests[0].body, R"("name":"mcp__all__echo")"));
  BOOST_TEST(run.output(0) == "Echo: hello");
  BOOST_TEST(run.output(1) == "The sum of 2 and 3 is 5.");
  BOOST_TEST(holds(requests[1].body, "data:image/png;base64,"));
  BOOST_TEST(holds(run.output(3), "temperature"));
  const std::string output = everything.stop().output;
  BOOST_TEST(holds(output, "Received session termination request"));
}

BOOST_AUTO_TEST_CASE(hosts_and_tokens_are_bounded_by_the_policy) {
  LoopbackHttp server(polite_mcp);
  const std::string place = "127.0.0.1:" + std::to_string(server.port());
  const std::string quoted = "\"http://" + place + "\"";
  const struct {
    const char* name;
    std::string bounds;
    std::string url;
    std::string settings;
    std::string told;
  } rows[] = {
      {"no host is allowed", "mcp: []", server.url(), "", "beyond the policy's bounds"},
      {"another host", "mcp: [\"https://mcp.example.com\"]", server.url(), "",
       "without http://" + place},
      {"another port", "mcp: [\"http://127.0.0.1:1\"]", server.url(), "",
       "beyond the policy's bounds"},
      {"its host at the usual port", "mcp: [\"http://127.0.0.1\"]", server.url(), "",
       "beyond the policy's bounds"},
      {"its host by TLS", "mcp: [\"https://" + place + "\"]", server.url(), "",
       "beyond the policy's bounds"},
      {"programs of any name", "mcp: [\"*\", \"" + place + "\", \"127*\"]", server.url(), "",
       "beyond the policy's bounds"},
      {"a token for no host", "mcp: [" + quoted + "]", server.url(),
       "bearer_token_env: ISSUES_TOKEN", "ISSUES_TOKEN may not go to http://" + place},
      {"a token for another host",
       "mcp: [" + quoted + "], credentials: {ISSUES_TOKEN: [mcp.example.com]}", server.url(),
       "bearer_token_env: ISSUES_TOKEN", "ISSUES_TOKEN may not go to http://" + place},
      {"the model's key", "mcp: [" + quoted + "]", server.url(), "bearer_token_env: OPENAI_API_KEY",
       "OPENAI_API_KEY may not go to http://" + place},
      {"plain http", "mcp: [\"https://mcp.example.com\"]", "http://mcp.example.com/mcp", "",
       "plain http is for loopback hosts only"},
      {"a password in the address", "mcp: [\"https://mcp.example.com\"]",
       "https://u:secret@mcp.example.com/mcp", "", "a user name or password in it is not allowed"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const McpRun run;
      run.write_policy(row.bounds);
      const ProgramEnd end = run.run(row.url, row.settings);
      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(holds(end.errors, row.told), end.errors);
      BOOST_TEST(!holds(end.errors, "secret@"));
    }
  }
  BOOST_TEST(server.requests().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_ends_a_run_that_requires_it_and_no_other) {
  const struct {
    const char* name;
    ServedResponse response;
    std::string told;
  } rows[] = {
      {"never answers",
       {.bytes = "", .then = ServedResponse::Then::hang},
       "startup_timeout: 0.3 s"},
      {"500", served_status(500, {}, ""), "the server failed (status 500)"},
      {"401", served_status(401, {}, ""), "requires a bearer token"},
      {"404", served_status(404, {}, ""), "there is no streamable HTTP server"},
      {"429", served_status(429, {}, ""), "too many requests"},
      {"a page", served_status(200, {{"Content-Type", "text/html"}}, "<p>"), "text/html"},
      {"another host", served_status(307, {{"Location", "https://other.example/mcp"}}, ""),
       "another host"},
      {"an endless stream",
       {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
        .then = ServedResponse::Then::drip,
        .drip = ":\n\n"},
       "startup_timeout: 0.3 s"},
  };
  for (const auto& row : rows) {
    for (const bool required : {true, false}) {
      BOOST_TEST_CONTEXT(row.name << (required ? ", required" : "")) {
        LoopbackHttp server([&row](const ReceivedRequest&) { return row.response; });
        const McpRun run(0);
        const ProgramEnd end = run.run(server, std::string("startup_timeout: 300ms, required: ") +
                                                   (required ? "true" : "false"));
        BOOST_TEST(end.status == (required ? 7 : 0), end.errors);
        BOOST_TEST(holds(end.errors, row.told), end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_token_that_is_not_set_makes_its_server_unavailable) {
  LoopbackHttp server(polite_mcp);
  const McpRun run(0);
  run.write_policy(McpRun::bounds(server));
  const ProgramEnd end =
      run.run(server.url(), "required: true, bearer_token_env: ISSUES_TOKEN", "");
  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(holds(end.errors, "ISSUES_TOKEN"), end.errors);
  BOOST_TEST(server.requests().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_lost_is_begun_anew_once) {
  LoopbackHttp server([calls = 0](const ReceivedRequest& request) mutable {
    if (holds(request.body, "tools/call") && ++calls != 2) return served_status(404, {}, "");
    return polite_mcp(request);
  });
  const McpRun run(4);

  const ProgramEnd end = run.run(server);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(holds(run.output(0), "the server does not know the session anymore"), run.output(0));
  BOOST_TEST(run.output(1) == "found with  in session-1");
  BOOST_TEST(holds(run.output(2), "the server does not know the session anymore"), run.output(2));
  BOOST_TEST(holds(run.output(3), "is not available anymore"), run.output(3));
  std::size_t initialized = 0;
  for (const ReceivedRequest& request : server.requests())
    initialized += holds(request.body, "\"initialize\"") ? 1 : 0;
  BOOST_TEST(initialized == 2U);
}

BOOST_AUTO_TEST_CASE(calls_that_go_wrong_are_told_to_the_model_and_the_run_goes_on) {
  const std::string stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  const struct {
    const char* name;
    ServedResponse response;
    std::string output;
  } rows[] = {
      {"never answers",
       {.bytes = "", .then = ServedResponse::Then::hang},
       "not answered in time (tool_timeout: 0.3 s)"},
      {"500", served_status(500, {}, ""), "the server failed (status 500)"},
      {"half an event",
       {.bytes = stream + "data: {\"json", .then = ServedResponse::Then::close},
       "ended without an answer"},
      {"an event without end",
       {.bytes = stream + "data: ",
        .then = ServedResponse::Then::drip,
        .drip = std::string(1u << 20, 'x'),
        .every = std::chrono::milliseconds(0)},
       "longer than 16777216 bytes"},
      {"resumed without end",
       {.bytes = stream + "id: 1\nretry: 0\ndata:\n\n", .then = ServedResponse::Then::close},
       "could not be resumed"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LoopbackHttp server([&row](const ReceivedRequest& request) {
        return holds(request.body, "tools/call") ? row.response : polite_mcp(request);
      });
      const McpRun run;
      const std::string timeout = holds(row.output, "tool_timeout") ? "300ms" : "60s";
      const ProgramEnd end = run.run(server, "tool_timeout: " + timeout);
      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(holds(run.output(0), row.output), run.output(0));
      BOOST_TEST(!run.records("tool.output").at(0)["success"].boolean(true));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
