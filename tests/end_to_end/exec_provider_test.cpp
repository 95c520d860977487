// A provider that fails under `sortie exec`: the words by which scripts for `codex exec` know the failure
// stand in front of sortie's own cause, in the events and on stderr.
#include <boost/test/unit_test.hpp>

#include "tests/end_to_end/exec_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

ServedResponse error(int status, const std::string& body) {
  return served_status(status, {{"Content-Type", "application/json"}}, body);
}

ServedResponse event(const std::string& json) { return served_stream("data: " + json + "\n\n"); }

/// The first half of a stream, and then its end.
ServedResponse half() {
  const std::string whole = served_stream(CassetteWriter().message("done").streams().front()).bytes;
  return {.bytes = whole.substr(0, whole.size() / 2), .then = ServedResponse::Then::close};
}

std::vector<std::string> without_retries(const ModelServer& server) {
  return {"-c",     "model_provider=m",
          "-c",     "model_providers.m.base_url=" + base_url(server),
          "-c",     "model_providers.m.stream_max_retries=0",
          "--json", "go"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_provider)

BOOST_AUTO_TEST_CASE(a_failure_has_the_words_of_codex_and_then_its_cause) {
  const struct {
    const char* name;
    ServedResponse served;
    const char* codex;
    const char* own;
  } rows[] = {
      {"cut stream", half(), "stream disconnected before completion: ", "(after 1 try)"},
      {"closed at once",
       {.bytes = "", .then = ServedResponse::Then::close},
       "stream disconnected before completion: ",
       "(after 1 try)"},
      {"error in the stream",
       event(R"({"type":"response.failed","response":{"error":{"code":"server_error",)"
             R"("message":"Oops."}}})"),
       "stream disconnected before completion: ", "Oops."},
      {"limit in the stream",
       event(R"({"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded",)"
             R"("message":"Rate limit reached."}}})"),
       "stream disconnected before completion: ", "Rate limit reached."},
      {"401", error(401, R"({"error":{"message":"Incorrect API key provided."}})"),
       "unexpected status 401 Unauthorized: ", "HTTP status 401: Incorrect API key provided."},
      {"403", error(403, R"({"error":{"message":"Not here."}})"),
       "unexpected status 403 Forbidden: ", "Not here."},
      {"404", error(404, R"({"error":{"message":"No such model.","code":"model_not_found"}})"),
       "unexpected status 404 Not Found: ", "No such model."},
      {"429", error(429, R"({"error":{"message":"Slow down.","code":"rate_limit_exceeded"}})"),
       "exceeded retry limit, last status: 429 Too Many Requests; ", "HTTP status 429: Slow down."},
      {"usage limit",
       error(429, R"({"error":{"type":"usage_limit_reached","message":"The limit is reached.",)"
                  R"("plan_type":"plus","resets_in_seconds":90}})"),
       "You've hit your usage limit. ", "The limit is reached."},
      {"quota", error(429, R"({"error":{"code":"insufficient_quota","message":"Pay first."}})"),
       "Quota exceeded. Check your plan and billing details. ", "Pay first."},
      {"quota in the stream",
       event(R"({"type":"response.failed","response":{"error":{"code":"insufficient_quota",)"
             R"("message":"Pay first."}}})"),
       "Quota exceeded. Check your plan and billing details. ", "Pay first."},
      {"capacity", error(503, R"({"error":{"code":"server_is_overloaded","message":"Too busy."}})"),
       "Selected model is at capacity. Please try a different model. ", "Too busy."},
      {"500", error(500, R"({"error":{"message":"Oops."}})"),
       "We're currently experiencing high demand, which may cause temporary errors. ", "Oops."},
      {"503", error(503, R"({"error":{"message":"Later."}})"),
       "unexpected status 503 Service Unavailable: ", "Later."},
      {"context",
       error(400, R"({"error":{"code":"context_length_exceeded","message":"Too long."}})"),
       "Codex ran out of room in the model's context window. Start a new thread or clear earlier "
       "history before retrying. ",
       "Too long."},
      // The provider's own words are all that codex has.
      {"400", error(400, R"({"error":{"message":"Unknown parameter."}})"),
       "127.0.0.1:", "HTTP status 400: Unknown parameter."},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    const ModelServer server({row.served, row.served, row.served});
    BOOST_TEST_CONTEXT(row.name) {
      const ProgramEnd end = run_program(run.exec(without_retries(server)));

      BOOST_TEST(end.status == 1);
      const Json last = events_of(end.output).back();
      BOOST_TEST(last.string_at("type") == "turn.failed");
      const std::string message = last["error"].string_at("message");
      BOOST_TEST(message.starts_with(row.codex), message);
      BOOST_TEST(holds(message, row.own), message);
      BOOST_TEST(holds(end.errors, row.codex), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_a_stream_that_did_not_complete) {
  const ExecRun run;
  const ProgramEnd end = run_program(
      run.exec({"-c", "model_provider=m", "-c", "model_providers.m.base_url=http://127.0.0.1:1/v1",
                "-c", "model_providers.m.stream_max_retries=0", "go"}));

  BOOST_TEST(end.status == 1);
  BOOST_TEST(
      holds(end.errors, "unavailable (10): stream disconnected before completion: 127.0.0.1:1"),
      end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
