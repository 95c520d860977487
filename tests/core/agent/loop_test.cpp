#include <boost/test/unit_test.hpp>

#include "core/base/clock.h"
#include "tests/core/agent/loop_flight.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(loop)

BOOST_AUTO_TEST_CASE(a_turn_is_recorded_in_the_order_in_which_it_happens) {
  LoopFlight flight;
  flight.model.add(response({reasoning(), call("c1")}));
  flight.model.add(response({assistant("Done.")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success));
  BOOST_TEST(flight.loop.last_message() == "Done.");
  BOOST_TEST(flight.loop.turn() == 2);
  const std::vector<std::string> expected = {"turn.started",  "model.request", "model.response",
                                             "tool.call",     "tool.output",   "turn.started",
                                             "model.request", "model.response"};
  BOOST_TEST(flight.events.types() == expected, boost::test_tools::per_element());
  BOOST_TEST(flight.events.data_of("model.request")[1]["items"].items().size() == 3u);
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(a_request_extends_the_one_before) {
  LoopFlight flight;
  flight.model.add(response({call("c1"), call("c2")}));
  flight.model.add(response({call("c3")}));
  flight.model.add(response({assistant("Done.")}));

  flight.run();

  const auto& requests = flight.model.requests;
  for (std::size_t i = 1; i < requests.size(); ++i)
    for (std::size_t j = 0; j < requests[i - 1].size(); ++j)
      BOOST_TEST(write_json(to_json(requests[i][j])) == write_json(to_json(requests[i - 1][j])));
  const std::vector<std::string> order = {"c1", "c2", "c3"};
  BOOST_TEST(flight.tools.dispatched == order, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_end_has_its_code_and_reason) {
  using Setup = std::function<void(LoopFlight&)>;
  const auto fails = [](ExitCode code, std::string kind) {
    return [=](LoopFlight& flight) {
      flight.model.answers.push_back(
          [=]() -> Response { throw ModelError("the provider said no", code, kind, 7s); });
    };
  };
  const auto verdict = [](CallVerdict what) {
    return [=](LoopFlight& flight) {
      flight.tools.results["c1"] = {.output = {"c1", "no"}, .verdict = what, .reason = "rule x"};
      flight.model.add(response({call("c1"), call("c2")}));
    };
  };
  const auto times = [](int count, Response one) {
    return [=](LoopFlight& flight) {
      for (int i = 0; i < count; ++i) flight.model.add(one);
    };
  };
  const struct {
    const char* name;
    Setup setup;
    ExitCode code;
    std::string kind;
  } rows[] = {
      {"unavailable", fails(ExitCode::unavailable, "cut"), ExitCode::unavailable, "cut"},
      {"limited", fails(ExitCode::limited, "quota"), ExitCode::limited, "quota"},
      {"refused", fails(ExitCode::refused, "invalid_request"), ExitCode::refused,
       "invalid_request"},
      {"auth", fails(ExitCode::auth, "auth"), ExitCode::auth, "auth"},
      {"forbidden", verdict(CallVerdict::forbidden), ExitCode::denied, "forbidden"},
      {"denials", verdict(CallVerdict::too_many_denials), ExitCode::denied, "too_many_denials"},
      {"protected", verdict(CallVerdict::protected_path_changed), ExitCode::integrity,
       "protected_path_changed"},
      {"cut off thrice", times(3, incomplete({assistant("a")})), ExitCode::refused, "incomplete"},
      {"reasoning twice", times(2, response({reasoning()})), ExitCode::refused, "reasoning_only"},
      {"nothing twice", times(2, response({})), ExitCode::refused, "reasoning_only"},
      {"unusable four times", times(4, unusable()), ExitCode::refused, "unusable_item"},
      {"paused eleven times", times(11, paused({assistant("a")})), ExitCode::refused, "paused"},
      {"stopped in a request",
       [](LoopFlight& flight) {
         flight.model.answers.push_back([]() -> Response { throw Stopped(); });
       },
       ExitCode::interrupted, "stopped"},
      {"stopped before it began", [](LoopFlight& flight) { flight.stop.request_stop(); },
       ExitCode::interrupted, "stopped"},
      {"stopped in a call",
       [](LoopFlight& flight) {
         flight.tools.on_call = [&flight](const ToolCall&) { flight.stop.request_stop(); };
         flight.model.add(response({call("c1"), call("c2")}));
       },
       ExitCode::interrupted, "stopped"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LoopFlight flight;
      row.setup(flight);

      const LoopResult result = flight.run();

      BOOST_TEST((result.code == row.code));
      BOOST_TEST(result.kind == row.kind);
      BOOST_TEST(!result.reason.empty());
      BOOST_TEST(flight.calls_are_paired());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_time_after_which_a_retry_may_help_is_handed_on) {
  LoopFlight flight;
  flight.model.answers.push_back(
      []() -> Response { throw ModelError("later", ExitCode::limited, "rate_limit", 90s); });

  BOOST_TEST((flight.run().retry_after == std::optional<std::chrono::milliseconds>(90s)));
}

BOOST_AUTO_TEST_CASE(turns_tokens_and_time_end_the_run) {
  const struct {
    const char* name;
    TaskBudget limits;
    std::string which;
  } rows[] = {
      {"turns", {.turns = 3}, "turns"},
      {"tokens", {.tokens = 1000}, "tokens"},
      {"time", {.time = 25s}, "time"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LoopFlight flight(row.limits);
      flight.tools.on_call = [&](const ToolCall&) { flight.clock.monotonic += 10s; };
      for (int i = 0; i < 9; ++i)
        flight.model.add(
            response({call("c" + std::to_string(i))},
                     Usage{.input_tokens = 300, .cached_input_tokens = 100, .output_tokens = 50}));

      const LoopResult result = flight.run();

      BOOST_TEST((result.code == ExitCode::budget));
      BOOST_TEST(result.kind == row.which);
      BOOST_TEST(!result.next.empty());
      BOOST_TEST(flight.loop.turn() == 3);
    }
  }
}

/// A tool that never ends by itself. The minute is there for a test that fails.
void work_until_stopped(const std::stop_token& stop) {
  BOOST_TEST(!SystemClock().sleep_for(60s, stop));
}

BOOST_AUTO_TEST_CASE(a_tool_is_asked_to_stop_when_the_time_is_up) {
  const struct {
    const char* name;
    std::vector<Item> calls;
    std::vector<std::string> reading;
    std::size_t run;
  } rows[] = {
      {"one call", {call("c1")}, {}, 1},
      {"the first of two", {call("c1"), call("c2")}, {}, 1},
      {"calls side by side", {call("c1"), call("c2"), call("c3")}, {"c1", "c2", "c3"}, 3},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      LoopFlight flight(TaskBudget{.time = 1ms});  // which stands still until the tool is stopped
      flight.model.add(response(row.calls));
      flight.tools.reading = row.reading;
      flight.tools.work = [&](const std::stop_token& stop) {
        work_until_stopped(stop);
        flight.clock.monotonic += 1ms;
      };

      const LoopResult result = flight.run();

      BOOST_TEST((result.code == ExitCode::budget));
      BOOST_TEST(result.kind == "time");
      BOOST_TEST(flight.tools.dispatched.size() == row.run);
      BOOST_TEST(flight.model.requests.size() == 1u);
      BOOST_TEST(flight.events.data_of("budget.exhausted").size() == 1u);
      BOOST_TEST(flight.calls_are_paired());
    }
}

BOOST_AUTO_TEST_CASE(a_tool_is_asked_to_stop_when_the_run_is) {
  LoopFlight flight;
  flight.model.add(response({call("c1")}));
  flight.tools.work = [&](const std::stop_token& stop) {
    flight.stop.request_stop();
    work_until_stopped(stop);
  };

  BOOST_TEST((flight.run().code == ExitCode::interrupted));
  BOOST_TEST(flight.events.data_of("budget.exhausted").empty());
}

BOOST_AUTO_TEST_CASE(a_request_cut_by_the_end_of_time_is_the_budgets_end) {
  LoopFlight flight(TaskBudget{.time = 30s});
  flight.model.answers.push_back([&]() -> Response {
    flight.clock.monotonic += 30s;
    throw ModelError("cut", ExitCode::unavailable, "idle");
  });

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.kind == "time");
  BOOST_TEST((flight.model.deadlines[0] == flight.budget.deadline()));
}

BOOST_AUTO_TEST_CASE(a_wait_that_time_does_not_last_for_is_the_budgets_end_and_on_record) {
  LoopFlight flight(TaskBudget{.time = 30s});
  flight.model.answers.push_back([&]() -> Response {
    flight.clock.monotonic += 20s;
    throw ModelError("no time to try again", ExitCode::budget, "time");
  });

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.reason == "no time to try again");
  BOOST_TEST(!result.next.empty());
  const auto exhausted = flight.events.data_of("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(write_json(exhausted[0]) == R"({"which":"time","limit":30000,"used":20000})");
}

BOOST_AUTO_TEST_CASE(the_model_is_told_once_when_most_of_the_budget_is_used) {
  LoopFlight flight(TaskBudget{.turns = 10});
  for (int i = 0; i < 9; ++i) flight.model.add(response({call("c" + std::to_string(i))}));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  int notices = 0;
  for (const Item& item : flight.loop.history().items()) {
    const auto* message = std::get_if<Message>(&item.content);
    if (message && message->text.starts_with("Budget notice")) ++notices;
  }
  BOOST_TEST(notices == 1);
  BOOST_TEST(flight.model.requests[8].size() == flight.model.requests[7].size() + 3);
}

BOOST_AUTO_TEST_CASE(feedback_goes_on_with_history_and_budget) {
  LoopFlight flight(TaskBudget{.turns = 2});
  flight.model.add(response({assistant("Done.")}));
  flight.model.add(response({assistant("Now it is.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));
  BOOST_TEST((flight.run("The tests fail.").code == ExitCode::success));
  BOOST_TEST((flight.run("Again.").code == ExitCode::budget));

  BOOST_TEST(flight.model.requests[1].size() == 3u);
  BOOST_TEST(flight.loop.last_message() == "Now it is.");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_recorded_is_not_done) {
  class FullDisk : public EventSink {
   public:
    void on(const RunEvent& event) override {
      if (std::holds_alternative<ModelAnswered>(event.what))
        throw Error("disk full", ExitCode::environment);
    }
  };
  LoopFlight flight;
  FullDisk disk;
  flight.model.add(response({call("c1")}));
  Loop unrecorded({flight.model, flight.tools, disk, flight.budget}, ModelSettings{});

  BOOST_CHECK_THROW(unrecorded.run({user("Do it.")}, {}), Error);
  BOOST_TEST(flight.tools.dispatched.empty());
}

BOOST_AUTO_TEST_CASE(a_stage_goes_on_with_the_conversation_under_its_own_settings) {
  LoopFlight flight;
  flight.model.add(response({assistant("Looked.")}));
  flight.model.add(response({assistant("Done.")}));
  flight.model.add(response({assistant("Said.")}));

  flight.loop.begin_stage({.name = "look", .instructions = "Look."});
  flight.run("first");
  flight.tools.names = {"shell", "apply_patch"};
  flight.loop.begin_stage({.name = "do", .instructions = "Look."});
  flight.run("second");
  flight.loop.begin_stage({.name = "say", .instructions = "Look."});
  flight.run("third");

  const ScriptedModel& asked = flight.model;
  BOOST_REQUIRE(asked.requests.size() == 3u);
  BOOST_TEST(asked.settings[0].instructions == "Look.");
  BOOST_TEST(asked.settings[0].tools.size() == 1u);
  BOOST_TEST(asked.settings[1].tools.size() == 2u);
  BOOST_TEST(asked.requests[2].size() == 5u);
  // Other tools make another head: an epoch of its own. The same ones go on with it.
  BOOST_TEST(asked.epochs[1] > asked.epochs[0]);
  BOOST_TEST(asked.epochs[2] == asked.epochs[1]);
}

BOOST_AUTO_TEST_CASE(a_stage_ends_the_run_at_its_own_limit_of_turns) {
  LoopFlight flight;
  for (int i = 0; i < 9; ++i) flight.model.add(response({call("c" + std::to_string(i))}));

  flight.loop.begin_stage({.name = "plan", .max_turns = 5});
  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.kind == "stage_turns");
  BOOST_TEST(result.next == "a larger max_turns of the stage 'plan' in the task");
  BOOST_TEST(flight.loop.turn() == 5);
  BOOST_TEST(flight.calls_are_paired());
  const auto exhausted = flight.events.data_of("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(exhausted[0].integer_at("limit") == 5);
  // Told once what is left, before the last of its turns.
  int notices = 0;
  for (const Item& item : flight.loop.history().items())
    if (const auto* one = std::get_if<Message>(&item.content))
      notices +=
          one->text ==
          "Budget notice: this stage has 1 turn left. Finish its work and end with your message.";
  BOOST_TEST(notices == 1);
}

BOOST_AUTO_TEST_CASE(the_next_stage_has_its_turns_again) {
  LoopFlight flight;
  flight.model.add(response({call("c1")}));
  flight.model.add(response({assistant("One.")}));
  flight.model.add(response({call("c2")}));
  flight.model.add(response({assistant("Two.")}));

  flight.loop.begin_stage({.name = "one", .max_turns = 2});
  BOOST_TEST((flight.run().code == ExitCode::success));
  flight.loop.begin_stage({.name = "two", .max_turns = 2});
  BOOST_TEST((flight.run().code == ExitCode::success));
  BOOST_TEST(flight.loop.last_message() == "Two.");
}

BOOST_AUTO_TEST_CASE(a_call_is_forced_until_one_was_made_in_the_stage) {
  LoopFlight flight;
  flight.loop.begin_stage({.name = "one", .instructions = "a", .tool_choice = "required"});
  flight.model.add(response({call("c1")}));
  flight.model.add(response({call("c2")}));
  flight.model.add(response({assistant("done")}));
  flight.model.add(response({call("c3")}));
  flight.model.add(response({assistant("done")}));

  BOOST_TEST((flight.run().code == ExitCode::success));
  flight.loop.begin_stage({.name = "two", .instructions = "a", .tool_choice = "required"});
  BOOST_TEST((flight.run().code == ExitCode::success));

  std::vector<std::string> choices;
  for (const ModelSettings& sent : flight.model.settings) choices.push_back(sent.tool_choice.now());
  const std::vector<int>& epochs = flight.model.epochs;
  const std::vector<std::string> expected = {"required", "auto", "auto", "required", "auto"};
  BOOST_TEST(choices == expected, boost::test_tools::per_element());
  // Each change begins an epoch, in which requests share their beginning.
  BOOST_REQUIRE_EQUAL(epochs.size(), 5u);
  BOOST_TEST(epochs[0] != epochs[1]);
  BOOST_TEST(epochs[1] == epochs[2]);
  BOOST_TEST(epochs[2] != epochs[3]);
}

// Servers refuse calls in the history of a request without tools.
BOOST_AUTO_TEST_CASE(a_stage_without_tools_still_declares_those_of_earlier_calls) {
  LoopFlight flight;
  flight.model.add(response({call("c1")}));
  flight.model.add(response({assistant("done")}));
  flight.model.add(response({assistant("a plan")}));

  BOOST_TEST((flight.run().code == ExitCode::success));
  const std::size_t tools = flight.model.settings.back().tools.size();
  flight.tools.names.clear();
  flight.loop.begin_stage({.name = "plan", .instructions = "b"});
  BOOST_TEST((flight.run().code == ExitCode::success));

  const ModelSettings& last = flight.model.settings.back();
  BOOST_TEST(tools > 0u);
  BOOST_TEST(last.tools.size() == tools);
  BOOST_TEST(last.tool_choice.now() == "none");
}

BOOST_AUTO_TEST_SUITE_END()
