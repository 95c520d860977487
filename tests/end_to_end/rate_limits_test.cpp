// The limits of a provider that runs share: runs of the program that are held up, and those that are not.
#include <sys/file.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "core/base/clock.h"
#include "core/files/files.h"
#include "core/rates/boot_time.h"
#include "core/rates/rate_state_file.h"
#include "tests/end_to_end/best_of_run.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// A run with a file of limits, whose state the test can read and change.
class RateRun : public ProviderRun {
 public:
  explicit RateRun(const std::string& limits = "{openai: {requests: 60}}") {
    std::filesystem::create_directory(path("rates"));
    write("rates/limits.yaml", "version: 1\nproviders: " + limits + "\n");
  }
  std::string file() const { return path("rates/limits.yaml").string(); }
  std::filesystem::path state_at = path("rates/limits.yaml.state");
  const std::filesystem::path& state() const { return state_at; }
  std::vector<std::string> flags(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--rate-limits", file()});
    return more;
  }
  void change(const RateStore::Step& step) const {
    SystemClock clock;
    const SystemBootTime time;
    RateStateFile({.path = state(), .time = time, .clock = clock}).change(step);
  }
  /// The provider has asked all to wait.
  void pause(std::chrono::nanoseconds how_long, const std::string& name = "openai") const {
    change([&](RateState& state, std::chrono::nanoseconds now) {
      state.pause(name, now + how_long, now);
    });
  }
  RateQueue queue(const std::string& name = "openai") const {
    RateQueue queue;
    change([&](RateState& state, std::chrono::nanoseconds now) { queue = state.queue(name, now); });
    return queue;
  }
};

std::vector<ServedResponse> done() {
  CassetteWriter cassette;
  return served(cassette.message("done"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_limits_run)

BOOST_AUTO_TEST_CASE(a_run_waits_for_what_another_was_asked_and_tells_it) {
  const RateRun run;
  const ModelServer server(done());
  run.pause(10min);
  Program program(run.start(base_url(server), run.flags({"--timeout", "1h"})));
  BOOST_REQUIRE(program.wait_for_error_text("for the rate limit of openai"));
  run.change([](RateState& state, std::chrono::nanoseconds now) {
    state.queue("openai", now).bucket.paused_until = now;
  });
  const ProgramEnd end = program.finish();

  check_end(run, end, 0, "success");
  BOOST_TEST(holds(end.errors, "s for the rate limit of openai"), end.errors);
  const auto waits = run.records("model.wait");
  BOOST_REQUIRE(waits.size() == 2u);
  BOOST_TEST(waits[0].string_at("limit") == "openai");
  BOOST_TEST(waits[0].string_at("cause") == "paused");
  BOOST_TEST(waits[0]["waited_ms"].is_null());
  BOOST_TEST(waits[1].integer_at("waited_ms") > 0);
  BOOST_TEST(run.result()["durations"].integer_at("rate_limit_ms") ==
             waits[1].integer_at("waited_ms"));
  BOOST_TEST(run.result()["counts"].integer_at("retries") == 0);
  BOOST_TEST(run.queue().bucket.taken == 1);
  BOOST_TEST(run.queue().waiting.empty());
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait_and_leaves_no_ticket) {
  const RateRun run;
  const ModelServer server(done());
  run.pause(10min);
  Program program(run.start(base_url(server), run.flags({"--timeout", "1h"})));
  BOOST_REQUIRE(program.wait_for_error_text("for the rate limit of openai"));
  BOOST_TEST(run.queue().waiting.size() == 1u);

  program.signal(SIGINT);
  const ProgramEnd end = program.finish();

  check_end(run, end, 130, "interrupted");
  BOOST_TEST(run.queue().waiting.empty());
  BOOST_TEST(server.requests().empty());
  BOOST_TEST(run.records("model.wait").size() == 2u);
}

BOOST_AUTO_TEST_CASE(
    a_pause_that_the_time_does_not_allow_for_ends_the_run_with_when_to_come_again) {
  const RateRun run;
  const ModelServer server(done());
  run.pause(10min);

  const ProgramEnd end = run_program(run.start(base_url(server), run.flags({"--timeout", "1m"})));

  check_end(run, end, 11, "limited");
  BOOST_TEST(holds(end.errors, "the provider asks to wait"), end.errors);
  BOOST_TEST(run.result().integer_at("retry_after_s") > 500);
  BOOST_TEST(server.requests().empty());
}

BOOST_AUTO_TEST_CASE(what_the_server_asks_for_is_told_to_all) {
  const struct {
    HttpHeaders headers;
    const char* what;
  } rows[] = {
      {{{"Retry-After", "600"}}, "Retry-After"},
      {{{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "10m0s"}},
       "OpenAI's"},
      {{{"anthropic-ratelimit-requests-remaining", "0"},
        {"anthropic-ratelimit-requests-reset", "2199-01-01T00:00:00Z"}},
       "Anthropic's"},
  };
  for (const auto& row : rows) {
    const RateRun run;
    const ModelServer server({served_status(429, row.headers, R"({"error":{"message":"Slow."}})")});

    const ProgramEnd end = run_program(run.start(base_url(server), run.flags({"--timeout", "1m"})));

    BOOST_TEST_CONTEXT(row.what) {
      check_end(run, end, 11, "limited");
      BOOST_TEST(run.queue().bucket.refused == 1);
      run.change([](RateState& state, std::chrono::nanoseconds now) {
        BOOST_TEST((state.queue("openai", now).bucket.paused_until > now + 5min));
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(each_attempt_and_each_model_takes_its_turns) {
  {
    const RateRun run("{openai: {requests: 6000}}");
    CassetteWriter cassette;
    const std::string answer = cassette.message("done").streams().front();
    const LoopbackHttp server([&answer](const ReceivedRequest&) { return served_stream(answer); });
    const ProgramEnd end = run_program(
        run.start(server.url("/v1"), run.flags({"--best-of", "3", "--isolation", "copy"})));
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(run.queue().bucket.taken == static_cast<std::int64_t>(server.requests().size()));
    BOOST_TEST(run.queue().bucket.taken >= 1);
  }
  const ModelServer second({served_stream(
      wire_stream("chat", parse_json(R"({"text":"done","model":"small"})")).text())});
  const RateRun run("{openai: {requests: 6000}, \"" + second.url() + "\": {requests: 6000}}");
  const ModelServer first({served_status(503, {}, "{}"), served_status(503, {}, "{}")});
  run.write_model("retries: 1, fallback: [{provider: openai-chat, name: small, base_url: '" +
                  base_url(second) + "'}]");

  const ProgramEnd end = run_program(run.start(base_url(first), run.flags()));

  check_end(run, end, 0, "success");
  BOOST_TEST(run.queue().bucket.taken == 2);  // and the retry
  BOOST_TEST(run.queue(second.url()).bucket.taken == 1);
}

BOOST_AUTO_TEST_CASE(tokens_that_the_provider_counted_are_taken) {
  const RateRun run("{openai: {tokens: 60000}}");
  const ModelServer server(done());

  check_end(run, run_program(run.start(base_url(server), run.flags())), 0, "success");

  const Json usage = run.result()["usage"]["total"];
  std::int64_t counted = 0;
  for (const std::int64_t tokens : run.queue().bucket.window.tokens) counted += tokens;
  BOOST_TEST(counted == usage.integer_at("input_tokens") + usage.integer_at("output_tokens"));
}

BOOST_AUTO_TEST_CASE(the_flag_is_no_part_of_the_run_key) {
  const RateRun run;
  const ModelServer server(done());
  check_end(run, run_program(run.start(base_url(server), run.flags())), 0, "success");

  const ProgramEnd again = run_program(run.start(base_url(server), {"--reuse", "success"}));

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(run.result()["cached"].boolean() == true);
  BOOST_TEST(server.requests().size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_command_reaches_the_state) {
  const struct {
    const char* state;  ///< from the folder of the limits
    const char* isolation;
  } rows[] = {
      {"limits.yaml.state", "auto"},   {"../work/rates.state", "auto"},
      {"../work/rates.state", "copy"}, {"../shared/rates.state", "auto"},
      {"limits.yaml.state", "none"},   {"../shared/rates.state", "none"},
  };
  for (const auto& row : rows) {
    RateRun run;
    std::filesystem::create_directory(run.path("shared"));
    run.write("policy.yaml", "version: 1\nextends: auto\npaths: {write: [../shared]}\n");
    run.write("rates/limits.yaml", std::string("version: 1\nstate: ") + row.state +
                                       "\nproviders: {openai: {requests: 6000}}\n");
    run.state_at = (run.path("rates") / row.state).lexically_normal();
    const std::string name = run.state_at.string();
    CassetteWriter cassette;
    cassette.shell({"sh", "-c",
                    "cat " + name + " | wc -c; echo x >> " + name + "; flock -n " + name +
                        " true && echo locked; rm -f " + name + "; mv " + name + " x; true"});
    cassette.next();
    const ModelServer server(served(cassette.message("done")));

    const ProgramEnd end = run_program(run.start(
        base_url(server), run.flags({"--approval", "full-auto", "--isolation", row.isolation,
                                     "--policy", run.path("policy.yaml").string()})));

    BOOST_TEST_CONTEXT(row.state << ", " << row.isolation) {
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(run.output(0), "0\n"), run.output(0));
      BOOST_TEST(run.queue().bucket.taken == 2);
      BOOST_TEST(!holds(run.artifact("changes.diff"), "rates.state"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_state_where_one_run_writes_itself_is_refused) {
  const struct {
    const char* state;
    const char* isolation;
    const char* why;
  } rows[] = {
      {"../out/rates.state", "auto", "lies in --out"},
      {"../work/rates.state", "none", "lies in the workspace"},
  };
  for (const auto& row : rows) {
    const RateRun run;
    run.write("rates/limits.yaml", std::string("version: 1\nstate: ") + row.state +
                                       "\nproviders: {openai: {requests: 60}}\n");
    const ModelServer server(done());

    const ProgramEnd end =
        run_program(run.start(base_url(server), run.flags({"--isolation", row.isolation})));

    BOOST_TEST(end.status == 2, end.errors);
    BOOST_TEST(holds(end.errors, row.why), end.errors);
    BOOST_TEST(holds(end.errors, "name a file elsewhere with 'state'"), end.errors);
    BOOST_TEST(server.requests().empty());
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_the_limits_is_told_before_anything_is_started) {
  const RateRun run("{opena: {requests: 60}}");
  const ModelServer server(done());

  const ProgramEnd end = run_program(run.start(base_url(server), run.flags()));

  BOOST_TEST(end.status == 2);
  BOOST_TEST(holds(end.errors, "limits.yaml:2:13: error: unknown provider 'opena'"), end.errors);
  BOOST_TEST(holds(end.errors, "did you mean 'openai'?"), end.errors);
  BOOST_TEST(!std::filesystem::exists(run.out()));
  run.write("rates/limits.yaml", "version: 1\nproviders: {openai: {requests: 60}}\n");
  run.write("rates/limits.yaml.state", "dear diary\n");
  const ProgramEnd other = run_program(run.start(base_url(server), run.flags()));
  BOOST_TEST(other.status == 2);
  BOOST_TEST(holds(other.errors, "holds something else"), other.errors);
  BOOST_TEST(read_file(run.state()) == "dear diary\n");
}

BOOST_AUTO_TEST_CASE(a_state_that_another_process_keeps_ends_the_run_as_busy) {
  const RateRun run;
  const ModelServer server(done());
  run.pause(0s);
  const Fd held(::open(run.state().c_str(), O_RDWR | O_CLOEXEC));
  BOOST_REQUIRE(::flock(held.get(), LOCK_EX | LOCK_NB) == 0);

  const ProgramEnd end = run_program(run.start(base_url(server), run.flags()));

  check_end(run, end, 12, "busy");
  BOOST_TEST(holds(end.errors, "another process has had its lock for 10 s"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_replay_takes_no_turn) {
  const RateRun run;
  CassetteWriter cassette;
  cassette.message("done").save(run.path("cassette.jsonl"));

  const ProgramEnd end =
      run_program(run.start("", run.flags({"--replay", run.path("cassette.jsonl").string()})));

  check_end(run, end, 0, "success");
  BOOST_TEST(!std::filesystem::exists(run.state()));
}

BOOST_AUTO_TEST_SUITE_END()
