// Budgets and context of the loop: what a request may cost, and what it may hold.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "core/agent/loop.h"
#include "tests/core/agent/windowed_model.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(context_of_the_loop)

BOOST_AUTO_TEST_CASE(the_history_is_shortened_before_it_fills_the_window) {
  Flight flight;
  flight.outputs_of(4'000);

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success), result.reason);
  BOOST_TEST(flight.model.hand_overs >= 2);
  BOOST_TEST(flight.model.largest < kWindow - kMaxOutput);
  const auto compacted = flight.events.data_of("context.compacted");
  BOOST_TEST(compacted.size() == static_cast<std::size_t>(flight.model.hand_overs));
  for (const Json& each : compacted) {
    BOOST_TEST(each.string_at("cause") == "compact_at");
    BOOST_TEST(each.string_at("method") == "summary");
    BOOST_TEST(each.integer_at("turns_after") == 4);
    BOOST_TEST(each.integer_at("turns_before") > 4);
    BOOST_TEST(each.integer_at("tokens_after") < each.integer_at("tokens_before"));
    BOOST_TEST(each.string_at("summary") == "## Goal\nthe summary");
    BOOST_TEST(!each.find("reason"));
  }
  BOOST_TEST(std::is_sorted(flight.model.epochs.begin(), flight.model.epochs.end()));
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(a_summary_counts_as_a_turn_and_runs_no_calls) {
  Flight flight;
  flight.outputs_of(4'000);
  flight.model.turns = 9;
  flight.model.hand_over = [](const Request&) {
    return response({assistant("the summary"), call("evil")});
  };

  flight.run();

  BOOST_TEST(flight.model.hand_overs == 1);
  BOOST_TEST(std::count(flight.tools.dispatched.begin(), flight.tools.dispatched.end(), "evil") ==
             0);
  BOOST_TEST(flight.events.data_of("turn.started").size() == 11u);
  BOOST_TEST(flight.budget.turns() == 11);
  BOOST_TEST(flight.loop.last_message() == "Done.");
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(without_a_summary_old_outputs_are_cut) {
  const struct {
    const char* name;
    std::function<Response(const Request&)> answer;
    const char* reason;
  } rows[] = {
      {"error",
       [](const Request&) -> Response {
         throw ModelError("no", ExitCode::unavailable, "server_error");
       },
       "no"},
      {"empty", [](const Request&) { return response({}); }, "the model's answer has no text"},
      {"calls alone", [](const Request&) { return response({call("again")}); },
       "the model's answer has no text"},
      {"too long for the window",
       [](const Request&) {
         std::string text;
         for (int i = 0; text.size() < 60'000; ++i) text += "fact " + std::to_string(i * i) + "; ";
         return response({assistant(text)});
       },
       "the summary would not have made it shorter"},
      {"too long itself",
       [](const Request&) -> Response {
         throw ModelError("long", ExitCode::refused, "context_length");
       },
       "long"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Flight flight;
      flight.outputs_of(4'000);
      flight.model.turns = 12;
      flight.model.hand_over = row.answer;

      BOOST_TEST((flight.run().code == ExitCode::success));

      const auto compacted = flight.events.data_of("context.compacted");
      BOOST_REQUIRE(!compacted.empty());
      BOOST_TEST(compacted[0].string_at("method") == "cut");
      BOOST_TEST(compacted[0]["summary"].is_null());
      BOOST_TEST(compacted[0].string_at("reason") == row.reason);
      BOOST_TEST(compacted[0].integer_at("turns_after") == compacted[0].integer_at("turns_before"));
      flight.check_paired();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_bad_summary_is_asked_for_again_and_never_kept) {
  std::string circles;
  while (circles.size() < 20'000) circles += "the next step is to look at the next step; ";
  const auto repeating = [&circles](const Request&) { return response({assistant(circles)}); };
  const auto cut = [](const Request&) {
    Response half = response({assistant("## Goal\nhalf of")});
    half.incomplete = true;
    return half;
  };
  const auto good = [](const Request&) { return response({assistant("## Goal\nthe summary")}); };
  const struct {
    const char* name;
    std::function<Response(const Request&)> first, second;
    const char* said;
    bool kept;
  } rows[] = {{"repeats itself, then good", repeating, good, "repeats itself", true},
              {"cut, then good", cut, good, "was cut off", true},
              {"bad twice", repeating, cut, "was cut off", false}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Flight flight;
      flight.model.turns = 12;
      flight.outputs_of(3'000);
      int asked = 0;
      flight.model.hand_over = [&](const Request& request) {
        return asked++ % 2 == 0 ? row.first(request) : row.second(request);
      };

      BOOST_TEST((flight.run().code == ExitCode::success));

      BOOST_TEST(asked >= 2);
      const auto compactions = flight.events.data_of("context.compacted");
      BOOST_REQUIRE(!compactions.empty());
      BOOST_TEST(compactions[0].string_at("method") == (row.kept ? "summary" : "cut"));
      if (!row.kept)
        BOOST_TEST(compactions[0].string_at("reason").find(row.said) != std::string::npos);
      const auto hits = flight.events.data_of("check.hit");
      BOOST_REQUIRE(!hits.empty());
      BOOST_TEST(hits[0].string_at("check") == "bad_summary");
      for (const Item& item : flight.loop.history().items())
        if (const auto* message = std::get_if<Message>(&item.content)) {
          BOOST_TEST(message->text.find("half of") == std::string::npos);
          BOOST_TEST(message->text.find("next step is") == std::string::npos);
        }
      flight.check_paired();
    }
  }
}

// The bulk is what the model wrote itself: there is hardly an output to cut.
BOOST_AUTO_TEST_CASE(a_run_of_400_turns_outlives_a_summariser_that_always_fails) {
  const ModelLimits limits{
      .name = "scripted", .context_window = 32'000, .max_output_tokens = kMaxOutput};
  Flight flight({.turns = 2'000, .tokens = 1'000'000'000}, {limits});
  flight.model.window = 32'000;
  flight.model.turns = 400;
  flight.model.arguments = R"({"content":")" + std::string(4'000, 'x') + "\"}";
  flight.outputs_of(100);
  flight.model.hand_over = [](const Request&) -> Response {
    throw ModelError("no", ExitCode::unavailable, "server_error");
  };

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::success), end.reason);
  BOOST_TEST(flight.model.hand_overs > 3);
  BOOST_TEST(flight.model.largest <= 32'000);
  BOOST_TEST(std::get<Message>(flight.loop.history().items()[0].content).text == "Do it.");
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(megabytes_of_arguments_in_one_call_are_left_out) {
  Flight flight;
  flight.model.turns = 6;
  flight.model.arguments = R"({"content":")" + std::string(3 << 20, 'x') + "\"}";

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::success), end.reason);
  BOOST_TEST(flight.model.largest <= kWindow);
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(a_summary_by_another_model_than_the_pinned_one_ends_the_run_at_once) {
  for (const bool too_long : {false, true}) {
    ModelLimits model = terms();
    if (too_long) model.context_window = 100'000;  // the provider's is a tenth of it
    Flight flight({}, {model}, {.model = "m", .max_output_tokens = kMaxOutput, .pin = true});
    flight.outputs_of(4'000);
    flight.model.hand_over = [](const Request&) {
      Response made = response({assistant("the summary")});
      made.requested_model = "m";
      made.served_model = "another";
      return made;
    };

    const LoopResult result = flight.run();

    BOOST_TEST((result.code == ExitCode::refused));
    BOOST_TEST(result.kind == "pin");
    BOOST_TEST(result.reason.find("'another'") != std::string::npos, result.reason);
    BOOST_TEST(flight.events.types().back() == "model.response");
    BOOST_TEST(flight.model.hand_overs == 1);
    flight.check_paired();
  }
}

BOOST_AUTO_TEST_CASE(a_context_length_error_is_answered_by_one_compaction) {
  Flight flight({}, {ModelLimits{.context_window = 100'000, .max_output_tokens = kMaxOutput}});
  flight.outputs_of(4'000);  // the provider's window is a tenth of what is believed

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success), result.reason);
  const auto compacted = flight.events.data_of("context.compacted");
  BOOST_REQUIRE(compacted.size() >= 2u);
  for (const Json& each : compacted) {
    BOOST_TEST(each.string_at("cause") == "context_length");
    BOOST_TEST(each.string_at("method") == "summary");
  }
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(what_is_too_long_also_when_shortened_ends_the_run) {
  Flight flight({}, {ModelLimits{.context_window = 100'000, .max_output_tokens = kMaxOutput}});
  flight.outputs_of(4'000);
  flight.model.window = 5;

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::refused));
  BOOST_TEST(result.kind == "context_length");
  BOOST_TEST(result.next.find("context_window") != std::string::npos);
  BOOST_TEST(flight.model.sizes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_fallback_with_a_smaller_window_is_asked_what_fits_it) {
  ModelLimits small = terms();
  small.context_window = kWindow / 2;
  Flight flight({}, {terms(), small});
  flight.outputs_of(3'000);
  flight.model.fall_back_at = 9;  // when the history has grown beyond half of the first's window

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success), result.reason);
  const auto compacted = flight.events.data_of("context.compacted");
  BOOST_REQUIRE(compacted.size() >= 2u);
  BOOST_TEST(compacted[0].string_at("cause") == "context_length");
  for (std::size_t i = 1; i < compacted.size(); ++i) {
    BOOST_TEST(compacted[i].string_at("cause") == "compact_at");
    BOOST_TEST(compacted[i].integer_at("tokens_before") < kWindow / 2);
  }
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(a_prompt_beyond_the_window_is_not_sent) {
  Flight flight;

  const LoopResult result =
      flight.loop.run({user(std::string(100'000, 'p'))}, flight.stop.get_token());

  BOOST_TEST((result.code == ExitCode::refused));
  BOOST_TEST(result.kind == "context_length");
  BOOST_TEST(flight.model.sizes.empty());
}

BOOST_AUTO_TEST_CASE(a_single_output_is_cut_to_what_is_left) {
  Flight flight;
  flight.outputs_of(1'000'000);
  flight.model.turns = 3;

  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.model.largest <= kWindow);
  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 3u);
  BOOST_TEST(hits[0].string_at("check") == "output_cut");
  BOOST_TEST(hits[0].string_at("saw").find("1000000 bytes") != std::string::npos);
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(an_output_that_is_cut_to_what_is_left_keeps_the_path_of_the_whole) {
  Flight flight;
  const std::string told = "; the whole output is in /out/state/outputs/output-1.txt …\n";
  flight.tools.on_call = [&](const ToolCall& call) {
    flight.tools.results[call.call_id] = {
        ToolOutput{.call_id = call.call_id,
                   .text = std::string(1'000'000, 'a') + "; the whole output is in /elsewhere …\n",
                   .whole = "/out/state/outputs/output-1.txt"}};
  };
  flight.model.turns = 1;

  BOOST_TEST((flight.run().code == ExitCode::success));

  const auto& items = flight.loop.history().items();
  const auto& output = std::get<ToolOutput>(items[items.size() - 2].content).text;
  BOOST_TEST(output.size() < 50'000u);
  BOOST_TEST(output.find(" left out" + told) != std::string::npos, output);
  // It is on record as it is shown.
  const Json record = flight.events.data_of("tool.output").back();
  BOOST_TEST(record.string_at("shown").find(" left out" + told) != std::string::npos);
  BOOST_TEST(record.string_at("output").size() > 1'000'000u);
  BOOST_TEST(record.integer_at("dropped_bytes") > 900'000);
}

BOOST_AUTO_TEST_CASE(what_is_kept_for_good_does_not_make_a_summary_each_turn) {
  Flight flight;
  flight.model.turns = 40;
  flight.outputs_of(10);

  // Above the trigger at 8,000 tokens, within the limit of 9,000.
  const LoopResult result =
      flight.loop.run({user(std::string(33'000, 'p'))}, flight.stop.get_token());

  BOOST_TEST((result.code == ExitCode::success), result.reason);
  BOOST_TEST(flight.model.hand_overs <= 4);
}

BOOST_AUTO_TEST_CASE(a_budget_that_allows_for_no_summary_ends_the_run_in_order) {
  Flight flight({.turns = 9});
  flight.outputs_of(4'000);

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.kind == "turns");
  BOOST_TEST(flight.budget.turns() == 9);
}

BOOST_AUTO_TEST_CASE(a_thousand_turns_take_no_more_room_than_a_hundred) {
  Flight flight({.turns = 2'000, .tool_calls = 2'000, .tokens = 100'000'000});
  flight.model.turns = 1'000;
  flight.outputs_of(3'000);
  std::size_t most_items = 0;
  std::int64_t most_tokens = 0;
  const auto outputs = flight.tools.on_call;
  flight.tools.on_call = [&](const ToolCall& call) {
    outputs(call);
    flight.events.events.clear();
    most_items = std::max(most_items, flight.loop.history().items().size());
    most_tokens = std::max(most_tokens, flight.loop.history().estimated_tokens());
  };

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success), result.reason);
  BOOST_TEST(flight.tools.dispatched.size() == 1'000u);
  BOOST_TEST(flight.model.hand_overs > 50);
  BOOST_TEST(most_items < 60u);
  BOOST_TEST(most_tokens < kWindow);
}

BOOST_AUTO_TEST_CASE(a_text_aside_leaves_the_history_as_it_is) {
  Flight flight;
  flight.model.turns = 1;
  flight.run();
  const std::size_t items = flight.loop.history().items().size();
  std::string why_not;

  BOOST_TEST(flight.loop.side_request(kRunNotesRequest, why_not, {}) == "Done.");

  BOOST_TEST(why_not.empty());
  BOOST_TEST(flight.loop.history().items().size() == items);
  BOOST_TEST(flight.model.sizes.back() == items + 1);
}

BOOST_AUTO_TEST_SUITE_END()
