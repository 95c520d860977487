#include "tests/support/request_check.h"

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/test/unit_test_suite.hpp>
#include <map>

#include "core/host/url.h"
#include "core/net/http_client.h"
#include "tests/support/model_server.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const std::map<std::string, std::string> kLines = {
    {"responses", "POST /v1/responses HTTP/1.1"},
    {"chat", "POST /v1/chat/completions HTTP/1.1"},
    {"messages", "POST /v1/messages?beta=true HTTP/1.1"}};

/// A request with a call and its output, as it should be.
const std::map<std::string, std::string> kValid = {
    {"responses",
     R"({"model":"m","instructions":"Be good.","store":false,"stream":true,)"
     R"("tools":[{"type":"function","name":"shell","parameters":{"type":"object"},"strict":false}],)"
     R"("input":[{"type":"message","role":"user","content":"Do it."},)"
     R"({"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"},)"
     R"({"type":"function_call_output","call_id":"c1","output":"out"}]})"},
    {"chat",
     R"({"model":"m","stream":true,)"
     R"("tools":[{"type":"function","function":{"name":"shell","parameters":{"type":"object"}}}],)"
     R"("messages":[{"role":"system","content":"Be good."},{"role":"user","content":"Do it."},)"
     R"({"role":"assistant","tool_calls":[{"id":"c1","type":"function",)"
     R"("function":{"name":"shell","arguments":"{}"}}]},)"
     R"({"role":"tool","tool_call_id":"c1","content":"out"}]})"},
    {"messages",
     R"({"model":"m","max_tokens":2000,"stream":true,"system":[{"type":"text","text":"Be good."}],)"
     R"("thinking":{"type":"enabled","budget_tokens":1024},)"
     R"("tools":[{"name":"shell","input_schema":{"type":"object"}}],)"
     R"("messages":[{"role":"user","content":[{"type":"text","text":"Do it."}]},)"
     R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"shell","input":{}}]},)"
     R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"out"},)"
     R"({"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}]})"}};

/// The same with one thing that is wrong: `old` stands as `now`.
struct Broken {
  const char* wire;
  const char* what;
  std::string old;
  std::string now;
  const char* said;
};

const std::string kUseBlock = R"({"type":"tool_use","id":"c1","name":"shell","input":{}})";
const std::string kResult = R"({"type":"tool_result","tool_use_id":"c1","content":"out"})";
const std::string kMark = R"("cache_control":{"type":"ephemeral"})";

const Broken kBroken[] = {
    {"responses", "no JSON", R"("stream":true,)", "stream", "no JSON"},
    {"responses", "a member of nobody", R"("store")", R"("stored")", "'stored'"},
    {"responses", "a type", R"("store":false)", R"("store":"no")", "store"},
    {"responses", "an unknown item", R"("function_call",)", R"("tool_call",)", ""},
    {"responses", "a call without arguments", R"(,"arguments":"{}")", "", "arguments"},
    {"responses", "a call without output",
     R"(,{"type":"function_call_output","call_id":"c1","output":"out"})", "", "no output"},
    {"responses", "an output without call",
     R"({"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"},)", "",
     "without its call"},
    {"responses", "the output of another call", R"("call_id":"c1","output")",
     R"("call_id":"c2","output")", "without its call"},
    {"chat", "a member of nobody", R"("model":"m")", R"("model":"m","cache":1)", "'cache'"},
    {"chat", "no messages", R"("messages")", R"("input")", "messages"},
    {"chat", "an unknown role", R"("role":"user")", R"("role":"human")", ""},
    {"chat", "a call without output", R"(,{"role":"tool","tool_call_id":"c1","content":"out"})", "",
     "no output"},
    {"chat", "an output without call", R"("tool_call_id":"c1")", R"("tool_call_id":"c2")",
     "without its call"},
    {"chat", "a message between both", R"({"role":"tool")",
     R"({"role":"user","content":"Well?"},{"role":"tool")", "without its output"},
    {"messages", "no max_tokens", R"("max_tokens":2000,)", "", "max_tokens"},
    {"messages", "a member of nobody", R"("stream":true)", R"("stream":true,"store":false)",
     "store"},
    {"messages", "an empty text", R"("text":"Do it.")", R"("text":" \n")", ""},
    {"messages", "no messages",
     R"("messages":[{"role":"user","content":[{"type":"text","text":"Do it."}]},)",
     R"("messages":[)", "the first message is not the user's"},
    {"messages", "a side twice", R"({"role":"assistant")",
     R"({"role":"user","content":[{"type":"text","text":"Now."}]},{"role":"assistant")",
     "in a row"},
    {"messages", "a call without output", kResult + ",", "", "before the output"},
    {"messages", "an output without call", R"("tool_use_id":"c1")", R"("tool_use_id":"c2")",
     "without its call"},
    {"messages", "an output behind a text", kResult,
     kResult + R"(,{"type":"text","text":"Look."},)" + kResult, "behind a text"},
    {"messages", "an id twice", kUseBlock, kUseBlock + "," + kUseBlock, "stands twice"},
    {"messages", "an id of odd letters", R"("id":"c1")", R"("id":"c 1")", ""},
    {"messages", "thoughts at the end", kUseBlock,
     kUseBlock + R"(,{"type":"thinking","thinking":"","signature":"s"})", "ends with thoughts"},
    {"messages", "a temperature beside thinking", R"("stream":true)",
     R"("stream":true,"temperature":0.5)", "temperature"},
    {"messages", "more thoughts than tokens", R"("max_tokens":2000)", R"("max_tokens":1024)",
     "budget_tokens"},
    {"messages", "two marks in the history", R"("text":"Do it.")", R"("text":"Do it.",)" + kMark,
     "mark"},
    {"messages", "five marks", R"({"type":"text","text":"Be good."})",
     R"({"type":"text","text":"1",)" + kMark + R"(},{"type":"text","text":"2",)" + kMark +
         R"(},{"type":"text","text":"3",)" + kMark + R"(},{"type":"text","text":"4",)" + kMark +
         "}",
     "four marks"},
    {"messages", "two tools of a name", R"("tools":[)",
     R"("tools":[{"name":"shell","input_schema":{"type":"object"}},)", "two tools"},
};

std::string broken_body(const Broken& row) {
  std::string body = kValid.at(row.wire);
  const std::size_t at = body.find(row.old);
  BOOST_REQUIRE(at != std::string::npos);
  return body.replace(at, row.old.size(), row.now);
}

struct NoSink : HttpSink {
  void on_head(const HttpHead&) override {}
  Wants on_body(std::string_view) override { return Wants::more; }
};

void post(const ModelServer& server, const std::string& path, const std::string& body) {
  HttpClient http;
  NoSink sink;
  http.send({.url = parse_url(server.url() + path), .body = body}, {}, sink, {});
}

unsigned long failures() {
  using namespace boost::unit_test;
  return results_collector.results(framework::current_test_case().p_id).p_assertions_failed;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(request_check)

BOOST_AUTO_TEST_CASE(requests_as_they_should_be_are_let_through) {
  for (const auto& [wire, body] : kValid)
    BOOST_TEST(request_problem(kLines.at(wire), body) == "", wire);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_request_is_found) {
  for (const Broken& row : kBroken) {
    BOOST_TEST_CONTEXT(row.wire << ": " << row.what) {
      const std::string problem = request_problem(kLines.at(row.wire), broken_body(row));
      BOOST_TEST(problem != "");
      BOOST_TEST(problem.find(row.said) != std::string::npos, problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_paths_are_no_wire_format) {
  BOOST_TEST(request_problem("POST /oauth/token HTTP/1.1", "grant=x") == "");
}

// The failure is what the test is about: it is counted, and then counted on.
BOOST_AUTO_TEST_CASE(a_server_that_got_a_wrong_request_fails_its_test_case,
                     *boost::unit_test::expected_failures(1)) {
  const auto before = failures();
  {
    const ModelServer server({served_status(200, {}, ""), served_status(200, {}, "")});
    post(server, "/v1/chat/completions", kValid.at("chat"));
    post(server, "/v1/chat/completions", R"({"model":"m"})");
    BOOST_REQUIRE(server.requests().size() == 2u);
  }
  const auto after = failures();
  if (after != before + 1) throw std::logic_error("a wrong request has gone unnoticed");
}

BOOST_AUTO_TEST_SUITE_END()
