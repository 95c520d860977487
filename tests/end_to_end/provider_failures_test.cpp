#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Then = ServedResponse::Then;

std::string good_stream() { return CassetteWriter().message("done").streams().front(); }

ServedResponse good() { return served_stream(good_stream()); }

ServedResponse raw(const std::string& bytes, Then then = Then::close) {
  return {.bytes = bytes, .then = then};
}

/// Half of a good stream, and then…
ServedResponse half(Then then) {
  const std::string whole = served_stream(good_stream(), false).bytes;
  return {.bytes = whole.substr(0, whole.size() / 2), .then = then};
}

ServedResponse event(const std::string& json) { return served_stream("data: " + json + "\n\n"); }

ServedResponse error(int status, const std::string& json, const HttpHeaders& headers = {}) {
  HttpHeaders all = headers;
  all.emplace_back("Content-Type", "application/json");
  return served_status(status, all, json);
}

ServedResponse rate_limit(const HttpHeaders& headers) {
  return error(429, R"({"error":{"message":"Slow down.","code":"rate_limit_exceeded"}})", headers);
}

ServedResponse dripping() {
  ServedResponse response = served_stream("data: {\"type\":\"response.created\"}\n\n", false);
  response.then = Then::drip;
  response.drip = ": still here\n\n";
  return response;
}

ServedResponse huge_event() {
  return served_stream("data: " + std::string(33u << 20, 'x') + "\n\n", false);
}

/// A port of loopback where nobody listens, as long as this lives.
struct ClosedPort {
  ClosedPort() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    BOOST_REQUIRE(::bind(socket.get(), plain, length) == 0);
    BOOST_REQUIRE(::getsockname(socket.get(), plain, &length) == 0);
    number = ::ntohs(address.sin_port);
  }
  Fd socket;
  int number = 0;
};

void check_retry(const ProviderRun& run, const std::string& kind, int status) {
  const auto retries = run.records("model.retry");
  BOOST_REQUIRE(retries.size() == 1);
  BOOST_TEST(retries[0]["failure"].string_at("kind") == kind);
  BOOST_TEST(retries[0]["failure"].integer_at("status") == status);
  BOOST_TEST(!retries[0]["failure"].string_at("message").empty());
  BOOST_TEST(run.result()["counts"].integer_at("retries") == 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_failures)

BOOST_AUTO_TEST_CASE(one_failed_try_is_survived_and_on_record) {
  const struct {
    const char* name;
    ServedResponse first;
    const char* kind;
    int status;
    const char* model = "";
  } rows[] = {
      {"cut stream", half(Then::close), "cut", 200},
      {"cut chunk",
       raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
           "Transfer-Encoding: chunked\r\n\r\n40\r\ndata: {}"),
       "cut", 200},
      {"429 with Retry-After", rate_limit({{"Retry-After", "1"}}), "rate_limit", 429},
      {"429 that says it in words",
       error(429, R"({"error":{"message":"Please try again in 20ms.","type":"tokens"}})"),
       "rate_limit", 429},
      {"500", error(500, R"({"error":{"message":"Oops."}})"), "server_error", 500},
      {"529 with a page", served_status(529, {{"Content-Type", "text/html"}}, "<p>overload</p>"),
       "overloaded", 529},
      {"closed at once", raw(""), "cut", 0},
      {"no headers", raw("", Then::hang), "first_event", 0, "timeout: {first_event: 300ms}"},
      {"half of the headers", raw("HTTP/1.1 200 OK\r\nContent-Ty", Then::hang), "first_event", 0,
       "timeout: {first_event: 300ms}"},
      {"stalled stream", half(Then::hang), "idle", 200, "timeout: {idle: 300ms}"},
      {"slow drip", dripping(), "total", 200, "timeout: {total: 2s, idle: 1s}"},
      {"malformed event", event("{\"type\":"), "cut", 200},
      {"malformed HTTP", raw("What?\r\n\r\n"), "cut", 0},
      {"empty stream", served_stream(""), "cut", 200},
      {"wrong content type", served_status(200, {{"Content-Type", "text/html"}}, "<p>sign in</p>"),
       "cut", 200},
      {"failed response",
       event(R"({"type":"response.failed","response":{"error":{"code":"server_error"}}})"),
       "server_error", 200},
      {"error event", event(R"({"type":"error","code":"overloaded","message":"Too busy."})"),
       "overloaded", 200},
      {"huge event", huge_event(), "cut", 200},
      {"huge headers", raw("HTTP/1.1 200 OK\r\nX: " + std::string(300u << 10, 'x') + "\r\n\r\n"),
       "cut", 0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write_task(row.model);
      const ModelServer server({row.first, good()});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      BOOST_TEST(end.output == "done\n");
      BOOST_TEST(end.errors.find("trying again") != std::string::npos, end.errors);
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 2);
      BOOST_TEST(requests[0].body == requests[1].body);
      check_retry(run, row.kind, row.status);
    }
  }
}

BOOST_AUTO_TEST_CASE(answers_that_are_cut_off_are_paid_for_out_of_the_budget) {
  std::string deltas;
  for (int i = 10'000; i < 15'000; ++i)
    deltas += R"(data: {"type":"response.output_text.delta","delta":"is )" + std::to_string(i) +
              "\"}\n\n";
  ServedResponse cut = served_stream(deltas, false);
  cut.then = Then::close;
  const ProviderRun run;
  // About 10,000 tokens an answer, at a thousandth of a USD each; 2,000 are reserved.
  run.write_task("max_output_tokens: 2000, price: {input: 0, output: 1000}", "budget: {cost: 11}");
  const ModelServer server({cut, cut});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 4, "budget");
  BOOST_TEST(server.requests().size() == 1);
  BOOST_TEST(end.errors.find("the answer broke off; it counts as") != std::string::npos,
             end.errors);
  const auto lost = run.records("model.cut_off");
  BOOST_REQUIRE(lost.size() == 1);
  BOOST_TEST(lost[0]["tokens"].integer_at("output_tokens") >= 10'000);
  BOOST_TEST(run.result()["reason"].text().find("cost 1") != std::string::npos,
             run.result()["reason"].text());
  const Json usage = run.result()["usage"];
  BOOST_TEST(usage["total"]["output_tokens"].integer().value_or(0) >= 10'000, write_json(usage));
}

BOOST_AUTO_TEST_CASE(a_wait_that_the_server_names_is_kept) {
  const ProviderRun run;
  const ModelServer server({rate_limit({{"Retry-After", "1"}}), good()});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto retries = run.records("model.retry");
  BOOST_REQUIRE(retries.size() == 1);
  BOOST_TEST(retries[0].integer_at("retry_after_ms") == 1000);
  BOOST_TEST(retries[0].integer_at("delay_ms") >= 1000);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_survived_ends_with_its_code) {
  const auto quota = [](const std::string& code) {
    return error(
        429, R"({"error":{"message":"No more.","resets_in_seconds":3600,"code":")" + code + "\"}}");
  };
  const auto refusal = [](int status, const std::string& code) {
    return error(status, R"({"error":{"message":"Not like this.","code":")" + code + "\"}}");
  };
  const struct {
    const char* name;
    ServedResponse response;  ///< to every request
    int code;
    const char* status;
    std::size_t requests;
    int retry_after = -1;  ///< seconds
    const char* model = "";
  } rows[] = {
      {"500", error(500, "{}"), 10, "unavailable", 2},
      {"cut", half(Then::close), 10, "unavailable", 2},
      {"stalled", half(Then::hang), 10, "unavailable", 2, -1, "timeout: {idle: 300ms}"},
      {"no headers", raw("", Then::hang), 10, "unavailable", 2, -1,
       "timeout: {first_event: 300ms}"},
      {"429", rate_limit({{"retry-after-ms", "20"}}), 11, "limited", 2, 1},
      {"429 for longer than the run", rate_limit({{"Retry-After", "86400"}}), 11, "limited", 1,
       86400},
      {"quota", quota("insufficient_quota"), 11, "limited", 1, 3600},
      {"usage limit", quota("usage_limit_reached"), 11, "limited", 1, 3600},
      {"401", refusal(401, "invalid_api_key"), 6, "auth", 1},
      {"403", refusal(403, ""), 6, "auth", 1},
      {"400", refusal(400, "invalid_value"), 5, "refused", 1},
      {"404", refusal(404, "model_not_found"), 5, "refused", 1},
      {"413", served_status(413, {}, ""), 5, "refused", 1},
      {"context length", refusal(400, "context_length_exceeded"), 5, "refused", 1},
      {"content filter",
       event(R"({"type":"response.incomplete","response":)"
             R"({"incomplete_details":{"reason":"content_filter"}}})"),
       5, "refused", 1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write_task(row.model);
      const ModelServer server({row.response, row.response, row.response});

      const ProgramEnd end = run.run(server);

      check_end(run, end, row.code, row.status);
      BOOST_TEST(end.output.empty());
      BOOST_TEST(server.requests().size() == row.requests);
      BOOST_TEST(run.records("model.retry").size() == row.requests - 1);
      const Json retry_after = run.result()["retry_after_s"];
      if (row.retry_after < 0)
        BOOST_TEST(retry_after.is_null());
      else
        BOOST_TEST(retry_after.integer().value_or(-1) == row.retry_after);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_providers_words_reach_the_operator) {
  const ProviderRun run;
  const ModelServer server({error(400, R"({"error":{"message":"Unknown model 'gpt-x'."}})")});

  const ProgramEnd end = run.run(server);

  BOOST_TEST(end.errors.find("Unknown model 'gpt-x'; next: ") != std::string::npos, end.errors);
  BOOST_TEST(run.result().string_at("reason").find("Unknown model") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_refused_connection_is_tried_again_and_is_unavailable) {
  const ProviderRun run;
  const ClosedPort port;

  const ProgramEnd end =
      run_program(run.start("http://127.0.0.1:" + std::to_string(port.number) + "/v1"));

  check_end(run, end, 10, "unavailable");
  check_retry(run, "connect", 0);
}

BOOST_AUTO_TEST_CASE(a_redirect_is_followed_on_its_own_host_only) {
  const ProviderRun run;
  const ModelServer other({good()});
  const auto redirect = [](const std::string& to) {
    return served_status(307, {{"Location", to}}, "");
  };
  ProgramStart start = run.start("");

  const ModelServer away({redirect(other.url("localhost") + "/v1/responses")});
  start.environment["SORTIE_BASE_URL"] = base_url(away);
  check_end(run, run_program(start), 5, "refused");
  BOOST_TEST(away.requests().size() == 1);
  BOOST_TEST(other.connections() == 0);

  const ModelServer within({redirect("/v2/responses"), good()});
  start.environment["SORTIE_BASE_URL"] = base_url(within);
  check_end(run, run_program(start), 0, "success");
  BOOST_REQUIRE(within.requests().size() == 2);
  BOOST_TEST(within.requests()[1].line == "POST /v2/responses HTTP/1.1");
}

BOOST_AUTO_TEST_CASE(what_was_done_before_a_failure_is_kept) {
  const ProviderRun run;
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo changed > a.txt"}).next();
  auto responses = served(cassette);
  responses.push_back(half(Then::close));
  responses.push_back(served_stream(CassetteWriter().message("done").streams().front()));
  const ModelServer server(responses);

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  BOOST_TEST(run.records("tool.call").size() == 1);
  BOOST_TEST(run.artifact("changes.diff").find("+changed") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_a_wait_for_the_model_in_order) {
  const struct {
    const char* name;
    ServedResponse second;
    const char* seen;  ///< on stderr, once the run waits
  } rows[] = {{"in a stream", half(Then::hang), ""},
              {"before the headers", raw("", Then::hang), ""},
              {"between two tries", rate_limit({{"Retry-After", "600"}}), "trying again"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "echo changed > a.txt"}).next();
      auto responses = served(cassette);
      responses.push_back(row.second);
      const ModelServer server(responses);
      Program program(run.start(base_url(server)));
      BOOST_REQUIRE(wait_until([&] { return server.requests().size() == 2; }));
      BOOST_REQUIRE(program.wait_for_error_text(row.seen));

      program.signal(SIGINT);
      const ProgramEnd end = program.finish();

      check_end(run, end, 130, "interrupted");
      BOOST_TEST(end.output.empty());
      BOOST_TEST(run.artifact("partial.diff").find("+changed") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_time_budget_ends_a_stalled_stream) {
  const ProviderRun run;
  const ModelServer server({half(Then::hang)});

  const ProgramEnd end = run.run(server, {"--timeout", "1s"});

  check_end(run, end, 4, "budget");
  BOOST_TEST(run.records("budget.exhausted").size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
