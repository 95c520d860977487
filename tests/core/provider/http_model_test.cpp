#include "core/provider/http_model.h"
#include "core/model/failure.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "core/files/files.h"
#include "core/model/chat/openai_chat.h"
#include "core/model/responses/openai_responses.h"
#include "core/net/http_client.h"
#include "core/provider/exchange.h"
#include "core/provider/wires.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http.h"
#include "tests/support/model_server.h"
#include "tests/support/stream_list.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using Ending = HttpResult::Ending;

namespace {

std::string recorded_stream(const std::string& name) {
  return read_file(SORTIE_SOURCE_DIR "/tests/data/streams/" + name + "/stream.sse");
}

/// A model on a fake connection and clock, and what one request to it came to.
struct Bench {
  OpenAiResponses wire;
  FakeHttp http;
  FakeClock clock;
  StreamList stream;
  ModelSettings settings{.model = "gpt-5-codex", .run_id = "run"};
  std::vector<Item> items = {{Message{Message::Role::user, "hi"}}};
  HttpModelOptions options{.endpoint = {.base = parse_url("https://api.example/v1")},
                           .random = [] { return 1.0; }};

  Response ask(std::chrono::milliseconds budget = 1h, std::stop_token stop = {}) {
    HttpModel model(wire, http, clock, options);
    return model.ask({settings, items, 0}, stream, clock.steady() + budget, stop);
  }
  std::optional<ModelError> failure(std::chrono::milliseconds budget = 1h) {
    try {
      ask(budget);
      return std::nullopt;
    } catch (const ModelError& error) {
      return error;
    }
  }
};

FakeHttp::Reply status(int code, HttpHeaders headers = {}, std::string body = "") {
  return {.head = {code, std::move(headers)}, .body = std::move(body)};
}

FakeHttp::Reply ending(Ending how) { return {.result = {how, "words"}}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(http_model)

BOOST_AUTO_TEST_CASE(what_is_retried_is_retried_and_then_succeeds) {
  const FakeHttp::Reply cut = {.head = {200, {{"Content-Type", "text/event-stream"}}},
                               .body = "data: {\"type\":\"response.created\"}\n\n",
                               .result = {Ending::cut, "words"}};
  const struct {
    const char* name;
    FakeHttp::Reply reply;
    const char* kind;
  } rows[] = {
      {"no connection", ending(Ending::no_connection), "connect"},
      {"connect timeout", ending(Ending::connect_timeout), "connect"},
      {"no head", ending(Ending::first_byte_timeout), "first_event"},
      {"idle", ending(Ending::idle_timeout), "idle"},
      {"total", ending(Ending::total_timeout), "total"},
      {"no HTTP", ending(Ending::malformed), "cut"},
      {"cut", cut, "cut"},
      {"ended before its terminal event", FakeHttp::stream("data: {}\n\n"), "cut"},
      {"empty", FakeHttp::stream(""), "cut"},
      {"only comments", FakeHttp::stream(": x\n\n"), "cut"},
      {"another content type", status(200, {{"Content-Type", "text/html"}}, "<p>"), "cut"},
      {"no content type", status(200, {}, "data: {}\n\n"), "cut"},
      {"408", status(408), "status"},
      {"409", status(409), "status"},
      {"429", status(429), "rate_limit"},
      {"500", status(500), "server_error"},
      {"502", status(502), "server_error"},
      {"503", status(503), "server_error"},
      {"504", status(504), "server_error"},
      {"529", status(529), "overloaded"},
      {"response.failed", FakeHttp::stream(recorded_stream("failed_server_error")), "server_error"},
      {"rate limit in the stream", FakeHttp::stream(recorded_stream("failed_rate_limit")),
       "rate_limit"},
      {"event error", FakeHttp::stream(recorded_stream("error_event")), "server_error"},
      {"malformed event", FakeHttp::stream(recorded_stream("malformed_event")), "cut"},
      {"an event beyond 32 MiB", FakeHttp::stream("data: " + std::string(33u << 20, 'x')), "cut"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bench bench;
      bench.http.replies = {row.reply, FakeHttp::stream(recorded_stream("text"))};

      const Response response = bench.ask();

      BOOST_TEST(response.items.size() == 2u);
      BOOST_REQUIRE(bench.stream.retries.size() == 1u);
      BOOST_TEST(bench.stream.retries[0].kind == row.kind);
      BOOST_TEST(bench.stream.retries[0].attempt == 1);
      BOOST_TEST(!bench.stream.retries[0].message.empty());
      BOOST_TEST((bench.stream.attempts == std::vector{1, 2}));
      BOOST_TEST(bench.http.bodies[0] == bench.http.bodies[1]);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_final_ends_at_once_with_its_code) {
  const std::string no = R"({"error":{"message":"Words of the provider.","code":"CODE"}})";
  const struct {
    const char* name;
    FakeHttp::Reply reply;
    ExitCode code;
    const char* kind;
  } rows[] = {
      {"400", status(400, {}, no), ExitCode::refused, "invalid_request"},
      {"404", status(404, {}, no), ExitCode::refused, "unknown_model"},
      {"413", status(413, {}, no), ExitCode::refused, "context_length"},
      {"422", status(422, {}, no), ExitCode::refused, "invalid_request"},
      {"401", status(401, {}, no), ExitCode::auth, "auth"},
      {"403", status(403, {}, no), ExitCode::auth, "auth"},
      {"303", status(303), ExitCode::refused, "redirect"},
      {"redirect to another host", ending(Ending::redirect_refused), ExitCode::refused, "redirect"},
      {"refusal", FakeHttp::stream(recorded_stream("refusal")), ExitCode::refused,
       "content_filter"},
      {"content filter", FakeHttp::stream(recorded_stream("content_filter")), ExitCode::refused,
       "content_filter"},
      {"context length", FakeHttp::stream(recorded_stream("failed_context_length")),
       ExitCode::refused, "context_length"},
      {"invalid prompt", FakeHttp::stream(recorded_stream("failed_invalid_prompt")),
       ExitCode::refused, "invalid_request"},
      {"quota", FakeHttp::stream(recorded_stream("failed_quota")), ExitCode::limited, "billing"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bench bench;
      bench.http.replies = {row.reply};
      const auto error = bench.failure();
      BOOST_REQUIRE(error.has_value());
      BOOST_TEST((error->code() == row.code));
      BOOST_TEST(error->kind() == row.kind);
      BOOST_TEST(bench.http.bodies.size() == 1u);
      if (!row.reply.body.empty() && row.reply.head.status >= 400)
        BOOST_TEST(std::string(error->what()).find("Words of the provider.") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stream_without_end_is_cut_whatever_it_brings) {
  const std::string kilobyte(1023, 'x');
  for (const std::string& line :
       {": " + kilobyte + "\n", "event: " + kilobyte + "\n",
        R"(data: {"type":"response.output_text.delta","delta":")" + kilobyte + "\"}\n\n"}) {
    BOOST_TEST_CONTEXT(line.substr(0, 40)) {
      const OpenAiResponses wire;
      FakeClock clock;
      Exchange exchange(wire.decoder({}), clock,
                        {.keep_stream = true, .max_stream_bytes = 1u << 20});
      exchange.on_head({200, {{"Content-Type", "text/event-stream"}}});
      int lines = 1;
      while (exchange.on_body(line) == HttpSink::Wants::more && lines < 2000) ++lines;
      exchange.finish();
      BOOST_TEST(lines <= 1024);
      BOOST_TEST(!exchange.is_complete());
      BOOST_TEST(exchange.failure({}).transient);
      BOOST_TEST(exchange.failure({}).message == "the stream is longer than 1 MiB");
      BOOST_TEST(exchange.stream().size() <= 1u << 20);
    }
  }
}

BOOST_AUTO_TEST_CASE(retries_are_counted_and_end_in_limited_or_unavailable) {
  const struct {
    FakeHttp::Reply reply;
    ExitCode code;
  } rows[] = {{status(429), ExitCode::limited}, {status(503), ExitCode::unavailable}};
  for (const auto& row : rows) {
    Bench bench;
    bench.options.retries = 2;
    bench.http.replies = {10, row.reply};
    const auto error = bench.failure();
    BOOST_REQUIRE(error.has_value());
    BOOST_TEST((error->code() == row.code));
    BOOST_TEST(bench.http.bodies.size() == 3u);
    BOOST_TEST((bench.clock.sleeps == std::vector<std::chrono::milliseconds>{500ms, 1000ms}));
  }
}

BOOST_AUTO_TEST_CASE(a_run_has_a_limited_number_of_retries) {
  Bench bench;
  bench.options.retries_of_run = 3;
  bench.http.replies = {status(503), status(503), FakeHttp::stream(recorded_stream("text")),
                        status(503), status(503)};
  HttpModel model(bench.wire, bench.http, bench.clock, bench.options);
  const auto deadline = bench.clock.steady() + 1h;

  model.ask({bench.settings, bench.items, 0}, bench.stream, deadline, {});

  BOOST_CHECK_EXCEPTION(model.ask({bench.settings, bench.items, 0}, bench.stream, deadline, {}),
                        ModelError, [](const ModelError& error) {
                          return std::string(error.what())
                              .ends_with("(after 2 tries; the run's 3 retries are used up)");
                        });
  BOOST_TEST(bench.stream.retries.size() == 3u);
}

BOOST_AUTO_TEST_CASE(the_servers_wait_is_kept_and_a_longer_one_than_the_budget_ends_the_run) {
  Bench patient;
  patient.http.replies = {status(429, {{"Retry-After", "60"}}),
                          FakeHttp::stream(recorded_stream("text"))};
  patient.ask();
  BOOST_TEST((patient.clock.sleeps == std::vector<std::chrono::milliseconds>{60s}));
  BOOST_TEST((patient.stream.retries[0].retry_after == std::optional(60000ms)));

  Bench hurried;
  hurried.http.replies = {status(503, {{"Retry-After", "60"}})};
  const auto error = hurried.failure(30s);
  BOOST_REQUIRE(error.has_value());
  BOOST_TEST((error->code() == ExitCode::limited));
  BOOST_TEST((error->retry_after() == std::optional(60000ms)));
  BOOST_TEST(hurried.clock.sleeps.empty());
  BOOST_TEST(std::string(error->what())
                 .ends_with("the provider asks to wait 60 s, and the time budget has 30 s left"));
}

// Servers that do not stream, or name another content type.
BOOST_AUTO_TEST_CASE(a_response_counts_whatever_its_content_type_if_it_is_one) {
  const std::string chat =
      R"({"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":)"
      R"("assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,)"
      R"("completion_tokens":2}})";
  const std::string responses =
      R"({"id":"r","object":"response","model":"m","status":"completed","error":null,"output":)"
      R"([{"type":"message","content":[{"type":"output_text","text":"Hi."}]}],)"
      R"("usage":{"input_tokens":3,"output_tokens":2}})";
  const std::string messages =
      R"({"id":"r","type":"message","model":"m","role":"assistant","content":[{"type":"text",)"
      R"("text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}})";
  const std::string stream =
      "data: {\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi.\"},"
      "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
  const struct {
    const char* name;
    const char* wire;
    const char* type;
    std::string body;
  } rows[] = {
      {"chat", "chat", "application/json", chat},
      {"chat that is called a stream", "chat", "text/event-stream", "\n " + chat},
      {"responses", "responses", "application/json; charset=utf-8", responses},
      {"messages", "messages", "application/json", messages},
      {"a stream as text", "chat", "text/plain", stream},
      {"a stream without a type, after a comment", "chat", "", "\xef\xbb\xbf: hi\n\n" + stream},
  };
  for (const auto& row : rows) {
    for (const std::size_t piece : {std::string::npos, std::size_t{1}}) {
      BOOST_TEST_CONTEXT(row.name << ", " << piece) {
        const auto wire = make_wire(row.wire);
        FakeClock clock;
        Exchange exchange(wire->decoder({}), clock, {});
        exchange.on_head({200, {{"Content-Type", row.type}}});
        for (std::size_t at = 0; at < row.body.size(); at += std::min(piece, row.body.size()))
          if (exchange.on_body(row.body.substr(at, piece)) == HttpSink::Wants::enough) break;
        exchange.finish();

        BOOST_REQUIRE_MESSAGE(exchange.is_complete(), exchange.failure({}).message);
        const Response response = exchange.response();
        BOOST_REQUIRE(response.items.size() == 1u);
        BOOST_TEST(std::get<Message>(response.items[0].content).text == "Hi.");
        BOOST_TEST(response.usage->output_tokens == 2);
        BOOST_TEST(response.served_model == "m");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_with_status_200_is_an_error) {
  const struct {
    const char* name;
    std::string type;
    std::string body;
    const char* kind;
  } rows[] = {
      {"JSON", "application/json",
       R"({"error":{"message":"slow down","code":"rate_limit_exceeded"}})", "rate_limit"},
      {"an error page", "text/html", "<html>busy</html>", "cut"},
      {"words", "text/plain", "internal error", "cut"},
      {"other JSON", "application/json", R"({"status":"loading model"})", "cut"},
      {"half of a response", "application/json", R"({"id":"r","choices":[{"message":{"con)", "cut"},
      {"nothing", "application/json", "", "cut"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeClock clock;
      Exchange exchange(make_wire("chat")->decoder({}), clock, {});
      exchange.on_head({200, {{"Content-Type", row.type}}});
      exchange.on_body(row.body);
      exchange.finish();
      BOOST_TEST(!exchange.is_complete());
      BOOST_TEST(exchange.failure({}).kind == row.kind);
      if (row.kind == std::string("cut"))
        BOOST_TEST(exchange.failure({}).message.find(row.body.substr(0, 20)) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_provider_says_of_its_limits_is_in_the_response) {
  Bench bench;
  auto reply = FakeHttp::stream(recorded_stream("text"));
  reply.head.headers.emplace_back("X-RateLimit-Remaining-Tokens", "149984");
  reply.head.headers.emplace_back("anthropic-ratelimit-requests-reset", "2026-11-21T00:00:00Z");
  reply.head.headers.emplace_back("x-request-id", "1");
  bench.http.replies = {reply};

  BOOST_TEST(write_json(bench.ask().rate_limits) ==
             R"({"x-ratelimit-remaining-tokens":"149984",)"
             R"("anthropic-ratelimit-requests-reset":"2026-11-21T00:00:00Z"})");
}

BOOST_AUTO_TEST_CASE(the_deadline_bounds_each_request_and_ends_in_budget) {
  Bench bench;
  BOOST_TEST((bench.failure(0s)->code() == ExitCode::budget));
  BOOST_TEST(bench.http.bodies.empty());

  bench.http.replies = {status(503)};
  const auto error = bench.failure(300ms);
  BOOST_TEST((error->code() == ExitCode::budget));
  BOOST_TEST(error->kind() == kWaitedForModel);
  BOOST_TEST(std::string(error->what()).ends_with("no time left for another try"));
  BOOST_TEST((bench.http.limits[0].total == 300ms));
}

BOOST_AUTO_TEST_CASE(a_stop_is_heard_before_and_while_waiting) {
  Bench bench;
  std::stop_source stop;
  stop.request_stop();
  BOOST_CHECK_THROW(bench.ask(1h, stop.get_token()), Stopped);
  BOOST_TEST(bench.http.bodies.empty());
}

BOOST_AUTO_TEST_CASE(fifty_requests_over_the_wire_keep_their_prefix_and_fit_the_schema) {
  std::vector<ServedResponse> responses;
  for (int i = 0; i < 50; ++i) {
    const std::string id = std::to_string(i);
    responses.push_back(served_stream(
        "data: "
        "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"model\":\"m\",\"output\":["
        "{\"id\":\"rs_" +
            id + "\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"gA" + id +
            "\"},{\"id\":\"fc_" + id +
            "\",\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"c" + id +
            "\",\"name\":\"shell\",\"arguments\":\"{}\"}]}}\n\n",
        i % 2 == 0));
  }
  ModelServer server(responses);
  OpenAiResponses wire;
  HttpClient http;
  SystemClock clock;
  StreamList stream;
  HttpModel model(wire, http, clock,
                  {.endpoint = {.base = parse_url(server.url() + "/v1")},
                   .headers = request_headers(provider_named("openai"), "k", "run", {})});
  const ModelSettings settings{.model = "gpt-5-codex",
                               .tools = {{.name = "shell",
                                          .description = "d",
                                          .parameters = Json::object({{"type", "object"}})}},
                               .run_id = "run"};
  std::vector<Item> items = {{Message{Message::Role::user, "start"}}};

  for (int i = 0; i < 50; ++i) {
    const Response response = model.ask({settings, items, 0}, stream, clock.steady() + 1min, {});
    for (const Item& item : response.items) items.push_back(item);
    items.push_back({ToolOutput{"c" + std::to_string(i), "out"}});
  }

  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 50u);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string& body = requests[i].body;
    BOOST_TEST(stream.requests[i].body_sha256 == sha256_hex(body));
    if (i == 0) continue;
    const std::string& before = requests[i - 1].body;
    const std::size_t shared = stream.requests[i].prefix_bytes;
    BOOST_TEST(shared == before.size() - 2);
    BOOST_TEST((body.compare(0, shared, before, 0, shared) == 0));
  }
  BOOST_TEST(requests[0].line == "POST /v1/responses HTTP/1.1");
  BOOST_TEST(header_value(requests[0].headers, "Accept") == "text/event-stream");
  BOOST_TEST(stream.retries.empty());
}

BOOST_AUTO_TEST_CASE(a_stop_ends_a_stream_that_hangs) {
  ModelServer server(
      {{.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\n",
        .then = ServedResponse::Then::hang}});
  OpenAiResponses wire;
  HttpClient http;
  SystemClock clock;
  StreamList stream;
  HttpModel model(wire, http, clock, {.endpoint = {.base = parse_url(server.url())}});
  const ModelSettings settings{.model = "m"};
  const std::vector<Item> items = {{Message{Message::Role::user, "x"}}};
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.requests().empty()) std::this_thread::yield();
    stop.request_stop();
  });

  BOOST_CHECK_THROW(
      model.ask({settings, items, 0}, stream, clock.steady() + 1min, stop.get_token()), Stopped);
}

// Only its usage is missing: that is waited for shortly, however long a silence may last.
BOOST_AUTO_TEST_CASE(a_chat_stream_that_stays_open_behind_its_finish_reason_is_complete) {
  const std::string finished =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\n";
  ModelServer server(
      {{.bytes = finished, .then = ServedResponse::Then::hang},
       {.bytes = finished, .then = ServedResponse::Then::drip, .drip = ": still here\n\n"}});
  const OpenAiChat wire;
  HttpClient http;
  SystemClock clock;
  StreamList stream;
  HttpModel model(wire, http, clock, {.endpoint = {.base = parse_url(server.url())}});
  const ModelSettings settings{.model = "m"};
  const std::vector<Item> items = {{Message{Message::Role::user, "x"}}};

  for (int i = 0; i < 2; ++i) {
    const Response response = model.ask({settings, items, 0}, stream, clock.steady() + 4min, {});
    BOOST_REQUIRE(response.items.size() == 1u);
    BOOST_TEST(std::get<Message>(response.items[0].content).text == "Hi.");
    BOOST_TEST(!response.usage.has_value());
  }
  BOOST_TEST(stream.retries.empty());
}

BOOST_AUTO_TEST_CASE(the_runs_deadline_ends_a_stream_that_drips) {
  ModelServer server({{.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
                       .then = ServedResponse::Then::drip,
                       .drip = ": still here\n\n"}});
  OpenAiResponses wire;
  HttpClient http;
  SystemClock clock;
  StreamList stream;
  HttpModel model(wire, http, clock, {.endpoint = {.base = parse_url(server.url())}});
  const ModelSettings settings{.model = "m"};
  const std::vector<Item> items = {{Message{Message::Role::user, "x"}}};

  BOOST_CHECK_EXCEPTION(model.ask({settings, items, 0}, stream, clock.steady() + 100ms, {}),
                        ModelError,
                        [](const ModelError& error) { return error.code() == ExitCode::budget; });
}

BOOST_AUTO_TEST_SUITE_END()
