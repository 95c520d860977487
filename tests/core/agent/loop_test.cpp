#include "core/agent/loop.h"

#include <boost/test/unit_test.hpp>

#include <map>

#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"
#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// A loop with everything around it in the open.
struct Flight {
  explicit Flight(TaskBudget limits = {}) : budget(limits, clock) {}

  LoopResult run(const std::string& prompt = "Do it.") {
    return loop.run({user(prompt)}, stop.get_token());
  }
  /// Whether each call in the history has exactly one output.
  bool calls_are_paired() const {
    std::map<std::string, int> open;
    for (const Item& item : loop.history().items()) {
      if (const auto* one = std::get_if<ToolCall>(&item.content)) ++open[one->call_id];
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) --open[one->call_id];
    }
    for (const auto& [id, count] : open)
      if (count != 0) return false;
    return true;
  }
  std::string output_of(std::size_t index) const {
    std::vector<std::string> texts;
    for (const Item& item : loop.history().items())
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) texts.push_back(one->text);
    return index < texts.size() ? texts[index] : "";
  }

  FakeClock clock;
  Budget budget;
  ScriptedModel model;
  FakeToolHost tools;
  EventList events;
  std::stop_source stop;
  Loop loop{{model, tools, events, budget}, ModelSettings{.model = "m", .max_output_tokens = 100}};
};

Response incomplete(std::vector<Item> items) {
  Response one = response(std::move(items));
  one.incomplete = true;
  one.stop_reason = "max_output_tokens";
  return one;
}

Response paused(std::vector<Item> items) {
  Response one = response(std::move(items));
  one.paused = true;
  one.stop_reason = "pause_turn";
  return one;
}

Response unusable() {
  Response one = response({});
  one.findings = {"a function call without a call id"};
  return one;
}

Item reasoning() { return {Reasoning{"hm"}}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(loop)

BOOST_AUTO_TEST_CASE(a_turn_is_recorded_in_the_order_in_which_it_happens) {
  Flight flight;
  flight.model.add(response({reasoning(), call("c1")}));
  flight.model.add(response({assistant("Done.")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success));
  BOOST_TEST(flight.loop.last_message() == "Done.");
  BOOST_TEST(flight.loop.turn() == 2);
  const std::vector<std::string> expected = {"turn.started", "model.request", "model.response",
                                             "turn.started", "model.request", "model.response"};
  BOOST_TEST(flight.events.types() == expected, boost::test_tools::per_element());
  BOOST_TEST(flight.events.data_of("model.request")[1]["items"].items().size() == 3u);
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(a_request_extends_the_one_before) {
  Flight flight;
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
  using Setup = std::function<void(Flight&)>;
  const auto fails = [](ExitCode code, std::string kind) {
    return [=](Flight& flight) {
      flight.model.answers.push_back(
          [=]() -> Response { throw ModelError("the provider said no", code, kind, 7s); });
    };
  };
  const auto verdict = [](CallVerdict what) {
    return [=](Flight& flight) {
      flight.tools.results["c1"] = {ToolOutput{"c1", "no"}, what, true, "rule x"};
      flight.model.add(response({call("c1"), call("c2")}));
    };
  };
  const auto times = [](int count, Response one) {
    return [=](Flight& flight) {
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
       [](Flight& flight) {
         flight.model.answers.push_back([]() -> Response { throw Stopped(); });
       },
       ExitCode::interrupted, "stopped"},
      {"stopped before it began", [](Flight& flight) { flight.stop.request_stop(); },
       ExitCode::interrupted, "stopped"},
      {"stopped in a call",
       [](Flight& flight) {
         flight.tools.on_call = [&flight](const ToolCall&) { flight.stop.request_stop(); };
         flight.model.add(response({call("c1"), call("c2")}));
       },
       ExitCode::interrupted, "stopped"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Flight flight;
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
  Flight flight;
  flight.model.answers.push_back(
      []() -> Response { throw ModelError("later", ExitCode::limited, "rate_limit", 90s); });

  BOOST_TEST((flight.run().retry_after == std::optional<std::chrono::milliseconds>(90s)));
}

BOOST_AUTO_TEST_CASE(a_response_that_is_none_is_told_and_the_run_goes_on) {
  const struct {
    const char* check;
    Response bad;
    int times;
  } rows[] = {
      {"incomplete", incomplete({assistant("half")}), 2},
      {"reasoning_only", response({reasoning()}), 1},
      {"unusable_item", unusable(), 3},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.check) {
      Flight flight;
      for (int i = 0; i < row.times; ++i) flight.model.add(row.bad);
      flight.model.add(response({assistant("Done.")}));

      BOOST_TEST((flight.run().code == ExitCode::success));

      const auto hits = flight.events.data_of("check.hit");
      BOOST_TEST(hits.size() == static_cast<std::size_t>(row.times));
      for (const Json& hit : hits) {
        BOOST_TEST(hit.string_at("check") == row.check);
        BOOST_TEST(hit["sent"].is_string());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_provider_that_paused_goes_on_from_what_it_sent) {
  Flight flight;
  flight.model.add(paused({assistant("I search.")}));
  flight.model.add(response({assistant("Found.")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success));
  BOOST_REQUIRE(flight.model.requests.size() == 2u);
  const auto& first = flight.model.requests[0];
  const auto& second = flight.model.requests[1];
  BOOST_REQUIRE(second.size() == first.size() + 1);
  BOOST_TEST(std::get<Message>(second.back().content).text == "I search.");
  BOOST_TEST(flight.loop.last_message() == "Found.");
}

BOOST_AUTO_TEST_CASE(a_call_id_used_before_is_answered_and_not_run_again) {
  Flight flight;
  flight.model.add(response({call("c1"), call("c1")}));
  flight.model.add(response({call("c1"), call("c2")}));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  const std::vector<std::string> run = {"c1", "c2"};
  BOOST_TEST(flight.tools.dispatched == run, boost::test_tools::per_element());
  BOOST_TEST(flight.calls_are_paired());
  BOOST_TEST(flight.output_of(1).find("was used before") != std::string::npos);
  BOOST_TEST(flight.events.data_of("tool.output").size() == 2u);
}

BOOST_AUTO_TEST_CASE(calls_beyond_the_budget_are_answered_not_run) {
  Flight flight(TaskBudget{.tool_calls = 2});
  flight.model.add(response({call("c1"), call("c2"), call("c3"), call("c4")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.reason == "tool calls 2 of 2");
  BOOST_TEST(flight.tools.dispatched.size() == 2u);
  BOOST_TEST(flight.calls_are_paired());
  const auto exhausted = flight.events.data_of("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(write_json(exhausted[0]) == R"({"which":"tool_calls","limit":2,"used":2})");
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
      Flight flight(row.limits);
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

BOOST_AUTO_TEST_CASE(a_request_cut_by_the_end_of_time_is_the_budgets_end) {
  Flight flight(TaskBudget{.time = 30s});
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
  Flight flight(TaskBudget{.time = 30s});
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
  Flight flight(TaskBudget{.turns = 10});
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
  Flight flight(TaskBudget{.turns = 2});
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
      if (event.type == "model.response") throw Error("disk full", ExitCode::environment);
    }
  };
  Flight flight;
  FullDisk disk;
  flight.model.add(response({call("c1")}));
  Loop unrecorded({flight.model, flight.tools, disk, flight.budget}, ModelSettings{});

  BOOST_CHECK_THROW(unrecorded.run({user("Do it.")}, {}), Error);
  BOOST_TEST(flight.tools.dispatched.empty());
}

namespace {

/// A flight whose messages are checked for dangerous words.
struct CheckedFlight : Flight {
  explicit CheckedFlight(const std::string& mode)
      : checks({.missing_paths = "off", .dangerous_words = mode},
               [] { return [](const std::string&) { return true; }; }) {}
  LoopResult run() { return checked.run({user("Do it.")}, stop.get_token()); }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Item& item : checked.history().items())
      if (const auto* message = std::get_if<Message>(&item.content)) all.push_back(message->text);
    return all;
  }

  ResponseChecks checks;
  Loop checked{{model, tools, events, budget, &checks}, ModelSettings{.model = "m"}};
};

const char* const kBadWords = "I'll skip the failing tests.";

}  // namespace

BOOST_AUTO_TEST_CASE(words_that_are_sent_back_come_before_the_calls_of_their_response) {
  CheckedFlight flight("correct");
  flight.model.add(response({assistant(kBadWords), call("c1"), call("c2")}));
  flight.model.add(response({assistant("I'll mend the cause."), call("c3")}));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  const std::vector<std::string> run = {"c3"};
  BOOST_TEST(flight.tools.dispatched == run, boost::test_tools::per_element());
  const auto& asked = flight.model.requests[1];
  BOOST_REQUIRE(asked.size() == 7u);  // prompt, message, two calls, two outputs, correction
  for (std::size_t i : {4u, 5u}) {
    const auto* output = std::get_if<ToolOutput>(&asked[i].content);
    BOOST_REQUIRE(output);
    BOOST_TEST(output->text.starts_with("Not run: "));
  }
  const auto* correction = std::get_if<Message>(&asked[6].content);
  BOOST_REQUIRE(correction);
  BOOST_TEST((correction->role == Message::Role::user));
  BOOST_TEST(correction->text.find("skip the failing tests") != std::string::npos);
  const auto outputs = flight.events.data_of("tool.output");
  BOOST_REQUIRE(outputs.size() == 2u);
  for (const Json& output : outputs) BOOST_TEST(output.string_at("verdict") == "not_run");
  BOOST_TEST(flight.events.data_of("check.hit").at(0).string_at("sent") ==
             correction->text.substr(
                 0, flight.events.data_of("check.hit").at(0).string_at("sent").size()));
}

BOOST_AUTO_TEST_CASE(words_are_sent_back_three_times_in_a_row_at_most) {
  CheckedFlight flight("correct");
  for (int i = 0; i < 5; ++i)
    flight.model.add(response({assistant(kBadWords), call("c" + std::to_string(i))}));
  flight.model.add(response({assistant("All is well."), call("c5")}));
  flight.model.add(response({assistant(kBadWords), call("c6")}));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  const std::vector<std::string> run = {"c3", "c4", "c5"};
  BOOST_TEST(flight.tools.dispatched == run, boost::test_tools::per_element());
  std::string sent;
  for (const Json& hit : flight.events.data_of("check.hit"))
    sent += hit["sent"].is_string() ? "s" : "-";
  BOOST_TEST(sent == "sss--s");
}

BOOST_AUTO_TEST_CASE(words_of_a_final_message_that_are_sent_back_do_not_end_the_run) {
  CheckedFlight flight("correct");
  flight.model.add(response({assistant("I skipped the failing tests.")}));
  flight.model.add(response({assistant("I mended the cause.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.checked.last_message() == "I mended the cause.");
}

BOOST_AUTO_TEST_CASE(words_that_are_only_warned_of_change_nothing) {
  for (const std::string mode : {"warn", "off"}) {
    BOOST_TEST_CONTEXT(mode) {
      CheckedFlight flight(mode);
      flight.model.add(response({assistant(kBadWords), call("c1")}));
      flight.model.add(response({assistant("Done.")}));

      BOOST_TEST((flight.run().code == ExitCode::success));

      BOOST_TEST(flight.tools.dispatched.size() == 1u);
      BOOST_TEST(flight.texts().size() == 3u);
      const auto hits = flight.events.data_of("check.hit");
      BOOST_TEST(hits.size() == (mode == "warn" ? 1u : 0u));
      for (const Json& hit : hits) BOOST_TEST(!hit["sent"].is_string());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_could_not_be_used_is_told_beside_words_that_are_sent_back) {
  CheckedFlight flight("correct");
  Response both = response({assistant(kBadWords), call("c1")});
  both.findings = {"a function call without a call id"};
  flight.model.add(both);
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  const auto texts = flight.texts();
  BOOST_REQUIRE(texts.size() == 5u);
  BOOST_TEST(texts[3].find("a function call without a call id") != std::string::npos);
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(an_answer_cut_off_at_its_length_limit_is_asked_for_as_a_whole) {
  Flight flight;
  ModelSettings settings{.model = "m", .max_output_tokens = 100};
  settings.output_schema = OutputSchema{.schema = Json::object({{"type", "object"}})};
  Loop answering({flight.model, flight.tools, flight.events, flight.budget}, settings);
  flight.model.add(incomplete({assistant("{\"a\":")}));
  flight.model.add(response({assistant("{}")}));

  BOOST_TEST((answering.run({user("Do it.")}, {}).code == ExitCode::success));

  const auto* asked = std::get_if<Message>(&flight.model.requests[1].back().content);
  BOOST_REQUIRE(asked);
  BOOST_TEST(asked->text.find("send it again, whole") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_stage_goes_on_with_the_conversation_under_its_own_settings) {
  Flight flight;
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
  Flight flight;
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
      notices += one->text ==
                 "Budget notice: of this stage's turns 1 is left. Bring it to an end "
                 "and close with your message.";
  BOOST_TEST(notices == 1);
}

BOOST_AUTO_TEST_CASE(the_next_stage_has_its_turns_again) {
  Flight flight;
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

BOOST_AUTO_TEST_CASE(calls_that_only_read_run_together_and_are_answered_in_order) {
  Flight flight;
  flight.tools.reading = {"a", "b", "c", "e"};
  flight.model.add(response({call("a"), call("b"), call("w"), call("c"), call("a"), call("e")}));
  flight.model.add(response({assistant("Done.")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::success));
  BOOST_TEST((flight.tools.dispatched == std::vector<std::string>{"a", "b", "w", "c", "e"}));
  // "c" and "e" are parted by a call whose id was used before.
  BOOST_TEST((flight.tools.together == std::vector<std::size_t>{2}));
  BOOST_TEST(flight.budget.tool_calls() == 5);
  std::vector<std::string> outputs;
  for (const Item& item : flight.loop.history().items())
    if (const auto* one = std::get_if<ToolOutput>(&item.content)) outputs.push_back(one->call_id);
  BOOST_TEST((outputs == std::vector<std::string>{"a", "b", "w", "c", "a", "e"}));
}

BOOST_AUTO_TEST_CASE(calls_that_run_together_keep_to_the_budget) {
  Flight flight({.tool_calls = 3});
  flight.tools.reading = {"a", "b", "c", "d", "e"};
  flight.model.add(response({call("a"), call("b"), call("c"), call("d"), call("e")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::budget));
  BOOST_TEST((flight.tools.together == std::vector<std::size_t>{3}));
  BOOST_TEST((flight.tools.dispatched == std::vector<std::string>{"a", "b", "c"}));
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(the_first_call_of_a_group_that_ends_the_run_says_why) {
  Flight flight;
  flight.tools.reading = {"a", "b", "c"};
  flight.tools.all_at_once = true;
  flight.tools.results["a"] = {
      {"a", "x"}, CallVerdict::protected_path_changed, false, "a command changed: .github"};
  flight.tools.results["b"] = {{"b", "no"}, CallVerdict::forbidden, true, "forbidden"};
  flight.model.add(response({call("a"), call("b"), call("c")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::integrity));
  BOOST_TEST(end.reason == "a command changed: .github");
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_CASE(a_call_that_is_not_run_keeps_the_server_that_offers_it) {
  Flight flight;
  flight.tools.offered_by = Json::object({{"server", "one"}, {"tool", "echo"}});
  flight.tools.results["a"] = {{"a", "no"}, CallVerdict::forbidden, true, "forbidden"};
  flight.model.add(response({call("a"), call("b")}));

  flight.run();

  BOOST_TEST(write_json(flight.events.data_of("tool.call").back()["origin"]) ==
             R"({"server":"one","tool":"echo"})");
}

BOOST_AUTO_TEST_CASE(behind_a_call_that_ends_the_run_none_of_its_group_is_run) {
  Flight flight;
  flight.tools.reading = {"a", "b", "c"};
  flight.tools.results["b"] = {{"b", "no"}, CallVerdict::forbidden, true, "forbidden"};
  flight.model.add(response({call("a"), call("b"), call("c")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::denied));
  BOOST_TEST((flight.tools.dispatched == std::vector<std::string>{"a", "b"}));
  BOOST_TEST(flight.output_of(2).starts_with("Not run: the run has ended"));
  BOOST_TEST(flight.calls_are_paired());
}

BOOST_AUTO_TEST_SUITE_END()
