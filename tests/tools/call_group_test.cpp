#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <mutex>

#include "tests/tools/runner_bench.h"

using namespace sortie;
using namespace sortie::test;
using Types = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(call_group)

namespace {

/// Answers once as many calls of it run as are waited for, or says that it was alone.
class Meeting : public Tool {
 public:
  explicit Meeting(int expected) : expected_(expected) {
    spec_.name = "read_file";
    spec_.parameters = parse_json(R"({"type":"object","properties":{"path":{"type":"string"}}})");
  }
  bool reads_only() const override { return true; }
  std::vector<Action> actions(const Json& arguments) const override {
    return {ReadPath{arguments.string_at("path")}};
  }
  ToolResult run(const Json& arguments, std::stop_token) override {
    std::unique_lock lock(mutex_);
    ++here_;
    all_here_.notify_all();
    const bool met =
        all_here_.wait_for(lock, std::chrono::minutes(1), [&] { return here_ >= expected_; });
    if (arguments.string_at("path") == "gone") throw ToolError("it is gone");
    if (arguments.string_at("path") == "broken") throw Error("the disk is gone");
    ToolResult result;
    result.text = arguments.string_at("path") + (met ? " met" : " was alone");
    return result;
  }

 private:
  int expected_;
  int here_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
};

struct StrictGroup : RunnerBench {
  StrictGroup() : RunnerBench({.abort_on_denied = true}) {}
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(calls_that_only_read_run_at_the_same_time, RunnerBench) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(3));
  ToolRunner runner(std::move(made), engine, events, redactor, clock);
  const auto reading = [](const std::string& id, const std::string& path) {
    return ToolCall{id, "read_file", write_json(Json::object({{"path", path}}))};
  };
  const std::vector<ToolCall> calls = {reading("1", "a"), reading("2", ".env"),
                                       reading("3", "gone"), reading("4", "b")};

  const auto results = run_calls(runner, events, calls);

  BOOST_TEST(runner.reads_only(calls[0]));
  BOOST_TEST(!runner.reads_only({"5", "nothing", "{}"}));
  BOOST_REQUIRE(results.size() == 4u);
  BOOST_TEST(results[0].output.text == "a met");
  BOOST_TEST(is_denied(results[1]));
  BOOST_TEST(results[2].output.text == "it is gone");
  BOOST_TEST(!results[2].output.success);
  BOOST_TEST(results[3].output.text == "b met");
  BOOST_TEST((events.types() == Types{"approval", "tool.call", "approval", "tool.call", "approval",
                                      "tool.call", "approval", "tool.call", "tool.output",
                                      "tool.output", "tool.output", "tool.output"}));
  Types order;
  for (const Json& output : events.data_of("tool.output"))
    order.push_back(output.string_at("call_id"));
  BOOST_TEST((order == Types{"1", "2", "3", "4"}));
}

BOOST_FIXTURE_TEST_CASE(what_is_called_when_the_run_is_to_end_is_not_begun, RunnerBench) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(1));
  ToolRunner runner(std::move(made), engine, events, redactor, clock);
  const std::vector<ToolCall> calls = {{"1", "read_file", R"({"path":"a"})"},
                                       {"2", "read_file", R"({"path":"b"})"}};
  std::stop_source stop;
  stop.request_stop();
  auto results = run_calls(runner, events, {calls.data(), 1}, stop.get_token());

  for (auto& one : run_calls(runner, events, calls, stop.get_token()))
    results.push_back(std::move(one));

  BOOST_REQUIRE(results.size() == 3u);
  for (const CallRecord& result : results) {
    BOOST_TEST(result.output.text == "Not run: the run is ending");
    BOOST_TEST(!result.output.success);
  }
  BOOST_TEST(events.data_of("tool.output").size() == 3u);
}

BOOST_FIXTURE_TEST_CASE(what_ends_the_run_is_thrown_from_a_group_too, RunnerBench) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(2));
  ToolRunner runner(std::move(made), engine, events, redactor, clock);
  const std::vector<ToolCall> calls = {{"1", "read_file", R"({"path":"a"})"},
                                       {"2", "read_file", R"({"path":"broken"})"}};

  BOOST_CHECK_THROW(run_calls(runner, events, calls), Error);
  BOOST_TEST(events.data_of("tool.output").size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(behind_a_denial_that_ends_the_run_no_call_of_a_group_is_judged,
                        StrictGroup) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(1));
  ToolRunner runner(std::move(made), engine, events, redactor, clock, {.abort_on_denied = true});
  const std::vector<ToolCall> calls = {{"1", "read_file", R"({"path":"a"})"},
                                       {"2", "read_file", R"({"path":".env"})"},
                                       {"3", "read_file", R"({"path":"b"})"}};

  const auto results = run_calls(runner, events, calls);

  BOOST_REQUIRE(results.size() == 2u);
  BOOST_TEST(results[0].output.text == "a met");
  BOOST_TEST((results[1].verdict == CallVerdict::forbidden));
  BOOST_TEST(events.data_of("tool.call").size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
