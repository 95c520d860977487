
#include <boost/test/unit_test.hpp>
#include <deque>

#include "core/files/files.h"
#include "core/model/responses/openai_responses.h"
#include "core/provider/http_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http.h"
#include "tests/support/stream_list.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// A token by number; a refused one is renewed by the next prepare(), as often as it may be.
class NumberedTokens : public CredentialSource {
 public:
  int token = 1;
  int renewals = 0;                                      ///< that may still be made
  std::deque<std::optional<ModelFailure>> preparations;  ///< what prepare() comes to; then nothing
  int prepared = 0;
  bool stale = false;

  std::optional<ModelFailure> prepare(std::chrono::steady_clock::time_point,
                                      std::stop_token) override {
    ++prepared;
    if (!preparations.empty()) {
      const auto result = preparations.front();
      preparations.pop_front();
      if (result) return result;
    }
    if (stale) ++token;
    stale = false;
    return std::nullopt;
  }
  HttpHeaders headers() const override {
    return {{"Authorization", "Bearer " + std::to_string(token)}};
  }
  bool refused() override {
    if (renewals == 0) return false;
    --renewals;
    return stale = true;
  }
  std::string plan() const override { return "plus"; }
};

struct Bench {
  OpenAiResponses wire;
  FakeHttp http;
  FakeClock clock;
  StreamList stream;
  NumberedTokens tokens;
  ModelSettings settings{.model = "gpt-5-codex", .run_id = "run"};
  std::vector<Item> items = {{Message{Message::Role::user, "hi"}}};

  std::optional<ModelError> ask() {
    HttpModel model(wire, http, clock,
                    {.endpoint = {.base = parse_url("https://api.example/v1")},
                     .headers = {{"Accept", "text/event-stream"}},
                     .credential = &tokens,
                     .retries = 1,
                     .random = [] { return 1.0; }});
    try {
      model.ask({settings, items, 0}, stream, clock.steady() + 1h, {});
      return std::nullopt;
    } catch (const ModelError& error) {
      return error;
    }
  }
  std::vector<std::string> sent() const {
    std::vector<std::string> tokens_sent;
    for (const auto& headers : http.headers)
      tokens_sent.emplace_back(header_value(headers, "Authorization"));
    return tokens_sent;
  }
};

FakeHttp::Reply status(int code) { return {.head = {code, {}}, .body = ""}; }

FakeHttp::Reply text() {
  return FakeHttp::stream(read_file(SORTIE_SOURCE_DIR "/tests/data/streams/text/stream.sse"));
}

using Sent = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(credential_source)

BOOST_AUTO_TEST_CASE(a_refused_credential_is_renewed_once_a_request_and_is_no_retry) {
  const struct {
    const char* name;
    std::vector<FakeHttp::Reply> replies;
    int renewals;
    std::optional<ExitCode> code;  ///< nothing: it succeeds
    Sent sent;
    std::size_t retries;
  } rows[] = {
      {"taken", {text()}, 1, std::nullopt, {"Bearer 1"}, 0},
      {"401", {status(401), text()}, 1, std::nullopt, {"Bearer 1", "Bearer 2"}, 0},
      {"403", {status(403), text()}, 1, std::nullopt, {"Bearer 1", "Bearer 2"}, 0},
      {"not to be renewed", {status(401)}, 0, ExitCode::auth, {"Bearer 1"}, 0},
      {"refused again", {status(401), status(401)}, 5, ExitCode::auth, {"Bearer 1", "Bearer 2"}, 0},
      {"a retry in between",
       {status(503), status(401), text()},
       1,
       std::nullopt,
       {"Bearer 1", "Bearer 1", "Bearer 2"},
       1},
      {"all retries are left",
       {status(401), status(503), text()},
       1,
       std::nullopt,
       {"Bearer 1", "Bearer 2", "Bearer 2"},
       1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bench bench;
      bench.tokens.renewals = row.renewals;
      bench.http.replies.assign(row.replies.begin(), row.replies.end());

      const auto error = bench.ask();

      BOOST_TEST(error.has_value() == row.code.has_value());
      if (error && row.code) BOOST_TEST((error->code() == *row.code));
      BOOST_TEST(bench.sent() == row.sent, boost::test_tools::per_element());
      BOOST_TEST(bench.stream.retries.size() == row.retries);
      BOOST_TEST(bench.stream.requests.size() == row.sent.size());
      BOOST_TEST(header_value(bench.http.headers[0], "Accept") == "text/event-stream");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_credential_that_is_not_to_be_had_is_retried_or_final_as_it_says) {
  const ModelFailure down = {.kind = "auth", .message = "no connection"};
  const ModelFailure dead = {
      .kind = "auth", .message = "expired", .transient = false, .code = ExitCode::auth};
  const struct {
    const char* name;
    std::deque<std::optional<ModelFailure>> preparations;
    std::optional<ExitCode> code;
    std::size_t requests;
    std::size_t retries;
  } rows[] = {
      {"back at once", {down}, std::nullopt, 1, 1},
      {"stays away", {down, down}, ExitCode::unavailable, 0, 1},
      {"for good", {dead}, ExitCode::auth, 0, 0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bench bench;
      bench.tokens.preparations = row.preparations;
      bench.http.replies = {text()};

      const auto error = bench.ask();

      BOOST_TEST(error.has_value() == row.code.has_value());
      if (error && row.code) BOOST_TEST((error->code() == *row.code));
      BOOST_TEST(bench.http.bodies.size() == row.requests);
      BOOST_TEST(bench.stream.retries.size() == row.retries);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
