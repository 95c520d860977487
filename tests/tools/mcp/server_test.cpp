#include "tools/mcp/server.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "tests/fakes/event_list.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace std::chrono_literals;

namespace {

using SteadyClock = std::chrono::steady_clock;

/// A server that answers all but calls, and tells how long it was given to end.
class SilentServer : public Transport {
 public:
  explicit SilentServer(std::optional<Deadline>& end_by) : end_by_(end_by) {}

  void open(Receiver& receiver, Deadline, std::stop_token) override { receiver_ = &receiver; }
  void send(const mcp::Message& message) override {
    if (message.method == "initialize")
      receiver_->received(
          result_reply(message.id, parse_json(R"({"protocolVersion":"2025-06-18","capabilities":{},
                                     "serverInfo":{"name":"s","version":"1"}})")));
    if (message.method == "tools/list")
      receiver_->received(result_reply(message.id, parse_json(R"({"tools":[{"name":"t"}]})")));
  }
  void close(Deadline deadline) override {
    end_by_ = deadline;
    receiver_->closed("closed");
  }

 private:
  Receiver* receiver_ = nullptr;
  std::optional<Deadline>& end_by_;
};

/// A server in a run that has so much time left.
struct ServerInRun {
  explicit ServerInRun(std::chrono::milliseconds tool_timeout = 60s)
      : server(
            {.name = "s", .startup_timeout = 60s, .tool_timeout = tool_timeout, .may_write = true},
            [this] { return std::make_unique<SilentServer>(end_by); }, [this] { return time_left; },
            std::make_unique<ServerLog>("s", events, [] { return 1; })) {
    server.start({});
  }
  std::string error_of_call() {
    try {
      server.call("t", Json::object(), {});
      return "";
    } catch (const ToolError& error) {
      return error.what();
    }
  }

  test::EventList events;
  std::chrono::milliseconds time_left = 1h;
  std::optional<Transport::Deadline> end_by;
  Server server;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(mcp_server)

BOOST_AUTO_TEST_CASE(a_call_that_is_late_says_whose_limit_it_met) {
  ServerInRun own(100ms);
  BOOST_TEST(
      own.error_of_call() ==
      "The MCP server s: tools/call was not answered in time (tool_timeout: 0.1 s); the call "
      "was cancelled");
  ServerInRun runs;
  runs.time_left = 0ms;
  BOOST_TEST(runs.error_of_call() ==
             "The MCP server s: tools/call was not answered in time (the run's time is up: "
             "budget.time); the call was cancelled");
}

BOOST_AUTO_TEST_CASE(beyond_the_runs_time_a_server_has_little_to_end_in) {
  for (const bool rests : {true, false})
    for (const auto left : {std::chrono::milliseconds(1h), std::chrono::milliseconds(0)}) {
      ServerInRun run;
      run.time_left = left;
      const auto deadline = SteadyClock::now() + 10h;
      if (rests)
        run.server.suspend(deadline);
      else
        run.server.end(deadline);
      BOOST_REQUIRE(run.end_by.has_value());
      BOOST_TEST((*run.end_by < deadline));
      // The test itself may take its time.
      BOOST_TEST((*run.end_by - SteadyClock::now() > 30min) == (left > 0ms));
    }
}

BOOST_AUTO_TEST_SUITE_END()
