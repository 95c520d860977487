// Budgets and context of the loop: what a request may cost, and what it may hold.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>

#include "core/agent/loop.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"
#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr std::int64_t kWindow = 10'000;
constexpr std::int64_t kMaxOutput = 1'000;

ModelLimits terms(std::optional<ModelPrice> price = {}) {
  return {.name = "scripted",
          .context_window = kWindow,
          .max_output_tokens = kMaxOutput,
          .price = price};
}

/// A model whose provider has a window and counts tokens; it calls a tool each turn, and answers a
/// summary request as it is sent.
class WindowedModel : public Model {
 public:
  std::int64_t window = kWindow;
  int turns = 20;  ///< until it ends with a message
  std::function<Response(const Request&)> hand_over = [](const Request&) {
    return response({assistant("## Goal\nthe summary")});
  };
  std::function<std::optional<Usage>(std::int64_t)> usage = [](std::int64_t input) {
    return std::optional(Usage{.input_tokens = input, .output_tokens = 50});
  };
  std::string arguments = "{}";  ///< of each call
  int fall_back_at = -1;         ///< with this request another model takes over, of half the window
  std::vector<std::size_t> sizes;  ///< items of each request
  std::vector<int> epochs;
  int hand_overs = 0;
  std::int64_t largest = 0;  ///< tokens of a request that was answered

  static std::int64_t tokens_of(const std::vector<Item>& items) {
    std::size_t bytes = 0;
    for (const Item& item : items) {
      if (const auto* one = std::get_if<Message>(&item.content)) bytes += one->text.size();
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) bytes += one->text.size();
      if (const auto* one = std::get_if<ToolCall>(&item.content)) bytes += one->arguments.size();
      bytes += 40;
    }
    return static_cast<std::int64_t>(bytes / 4);
  }

  Response ask(const Request& request, StreamSink& stream, std::chrono::steady_clock::time_point,
               std::stop_token) override {
    check_prefix(request);
    stream.on_request({.provider = "scripted", .wire = "none", .body_sha256 = "a"}, 1);
    if (static_cast<int>(sizes.size()) == fall_back_at) {
      stream.on_fallback({.from = "scripted", .to = "small", .reason = "gone", .source = 1});
      source_ = 1;
      window = kWindow / 2;
    }
    sizes.push_back(request.items.size());
    epochs.push_back(request.epoch);
    const std::int64_t input = tokens_of(request.items);
    if (input > window)
      throw ModelError("the input exceeds the context window", ExitCode::refused, "context_length");
    largest = std::max(largest, input);
    const auto* last = std::get_if<Message>(&request.items.back().content);
    const bool is_hand_over = last && last->text.starts_with("This conversation is about");
    hand_overs += is_hand_over ? 1 : 0;
    Response made = is_hand_over ? hand_over(request)
                    : --turns < 0
                        ? response({assistant("Done.")})
                        : response({call("c" + std::to_string(++calls_), "shell", arguments)});
    made.usage = usage(input);
    made.source = source_;
    return made;
  }

 private:
  /// Within an epoch items only ever grow.
  void check_prefix(const Request& request) {
    if (request.epoch == epoch_) {
      BOOST_TEST(request.items.size() >= items_.size());
      for (std::size_t i = 0; i < std::min(items_.size(), request.items.size()); ++i)
        BOOST_TEST(write_json(to_json(request.items[i])) == items_[i]);
    }
    BOOST_TEST(request.epoch >= epoch_);
    epoch_ = request.epoch;
    items_.clear();
    for (const Item& item : request.items) items_.push_back(write_json(to_json(item)));
  }

  int calls_ = 0;
  int source_ = 0;
  int epoch_ = -1;
  std::vector<std::string> items_;
};

struct Flight {
  explicit Flight(TaskBudget limits = {}, std::vector<ModelLimits> models = {terms()},
                  ModelSettings settings = {.model = "m", .max_output_tokens = kMaxOutput})
      : budget(limits, clock, models),
        loop({model, tools, events, budget}, std::move(settings),
             ContextSettings{.models = models}) {}

  LoopResult run() { return loop.run({user("Do it.")}, stop.get_token()); }
  void outputs_of(std::size_t bytes) {
    tools.on_call = [this, bytes](const ToolCall& call) {
      tools.results[call.call_id] = {ToolOutput{call.call_id, std::string(bytes, 'x')}};
    };
  }
  void check_paired() const {
    std::map<std::string, int> open;
    for (const Item& item : loop.history().items()) {
      if (const auto* one = std::get_if<ToolCall>(&item.content)) ++open[one->call_id];
      if (const auto* one = std::get_if<ToolOutput>(&item.content)) --open[one->call_id];
    }
    for (const auto& [id, count] : open) BOOST_TEST(count == 0, id);
  }

  FakeClock clock;
  Budget budget;
  WindowedModel model;
  FakeToolHost tools;
  EventList events;
  std::stop_source stop;
  Loop loop;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(context_of_the_loop)

BOOST_AUTO_TEST_CASE(a_cost_is_reserved_before_a_request_and_counted_after_it) {
  const ModelPrice price{.input = 1, .cached_input = 0.1, .output = 10};
  Flight flight({.cost = 0.05}, {terms(price)});
  flight.model.usage = [](std::int64_t) {
    return Usage{.input_tokens = 1000, .cached_input_tokens = 500, .output_tokens = 900};
  };

  const LoopResult result = flight.run();

  // Each response costs 0.00955, and 0.01 and a little is reserved for the next.
  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.kind == "cost");
  BOOST_TEST(
      result.reason.starts_with("cost 0.048 of 0.05 USD at turn 5, and the next request may take "),
      result.reason);
  BOOST_TEST(result.next == "--max-cost 0.08, or a model.max_output_tokens below 1000 in the task");
  const auto exhausted = flight.events.data_of("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(write_json(exhausted[0]) == R"({"which":"cost","limit":50000,"used":47750})");
  BOOST_TEST(flight.events.data_of("model.response")[0]["cost_usd"].text() == "0.00955");
  flight.check_paired();
}

BOOST_AUTO_TEST_CASE(a_fallback_that_is_dearer_is_reserved_for) {
  const ModelPrice cheap{.input = 0, .output = 1};
  const ModelPrice dear{.input = 0, .output = 100};
  Flight flight({.cost = 0.09}, {terms(cheap), terms(dear)});

  BOOST_TEST(flight.run().kind == "cost");
  BOOST_TEST(flight.model.sizes.empty());
}

BOOST_AUTO_TEST_CASE(tokens_are_reserved_for_the_model_that_is_asked) {
  const struct {
    const char* name;
    std::int64_t first, second;  ///< tokens that the model may answer with
    std::size_t requests;
    bool told = true;  ///< whether they can be told to answer more shortly
  } rows[] = {
      {"one that answers at length takes over", 1'000, 6'000, 1, false},
      {"one that answers at length takes over, and is told to be short", 1'000, 6'000, 4},
      {"one that answers shortly takes over", 6'000, 1'000, 4},
      {"both shortly", 1'000, 1'000, 4},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ModelLimits first = terms();
      ModelLimits second = terms();
      first.max_output_tokens = row.first;
      second.max_output_tokens = row.second;
      first.takes_output_limit = second.takes_output_limit = row.told;
      Flight flight({.tokens = 6'050}, {first, second});
      flight.model.fall_back_at = 0;
      flight.model.turns = 3;

      const LoopResult result = flight.run();

      BOOST_TEST(flight.model.sizes.size() == row.requests);
      BOOST_TEST((result.code == (row.requests == 4 ? ExitCode::success : ExitCode::budget)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_response_is_recorded_with_the_model_that_gave_it) {
  ModelLimits small = terms();
  small.name = "small";
  Flight flight({}, {terms(), small});
  flight.model.fall_back_at = 1;
  flight.model.turns = 1;

  flight.run();

  const auto responses = flight.events.data_of("model.response");
  BOOST_REQUIRE(responses.size() == 2u);
  BOOST_TEST(responses[0].string_at("model") == "scripted");
  BOOST_TEST(responses[0].integer_at("source", -1) == 0);
  BOOST_TEST(responses[1].string_at("model") == "small");
  BOOST_TEST(responses[1].integer_at("source", -1) == 1);
}

BOOST_AUTO_TEST_CASE(a_response_that_was_cut_counts_with_all_that_came) {
  Flight flight;
  flight.model.turns = 0;
  flight.model.usage = [](std::int64_t) { return std::nullopt; };
  flight.run();
  const std::int64_t without = flight.budget.tokens();
  Response cut = response({assistant("Round and round. ")}, std::nullopt);
  cut.repeated = "Round and round. ";
  cut.cut_bytes = 8'000;
  ScriptedModel model;
  model.add(std::move(cut));
  model.add(response({assistant("Done.")}));
  EventList events;
  Budget budget({}, flight.clock);
  Loop loop({model, flight.tools, events, budget}, ModelSettings{.model = "m"});

  BOOST_TEST((loop.run({user("Do it.")}, {}).code == ExitCode::success));

  BOOST_TEST(without < 100);
  const Json tokens = events.data_of("model.response").at(0)["tokens"];
  BOOST_TEST(tokens.integer_at("output_tokens") == 2'000);
}

BOOST_AUTO_TEST_CASE(a_price_that_is_not_known_is_no_price_of_nothing) {
  Flight flight({.cost = 0.000001});
  flight.model.turns = 2;

  BOOST_TEST((flight.run().code == ExitCode::success));
  for (const Json& response : flight.events.data_of("model.response"))
    BOOST_TEST(response["cost_usd"].is_null());
}

BOOST_AUTO_TEST_CASE(no_run_passes_its_cost_by_more_than_the_output_of_one_response) {
  std::mt19937 random(4);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int ended_by_cost = 0;
  for (int run = 0; run < 300; ++run) {
    const ModelPrice price{.input = static_cast<double>(any(1, 500)) / 100,
                           .cached_input = static_cast<double>(any(0, 100)) / 100,
                           .cache_write = static_cast<double>(any(1, 700)) / 100,
                           .output = static_cast<double>(any(100, 8000)) / 100};
    const double limit = static_cast<double>(any(1, 400)) / 1000;
    const double ratio = static_cast<double>(any(50, 200)) / 100;
    Flight flight({.turns = 500, .cost = limit}, {terms(price)});
    flight.model.turns = 100;
    flight.outputs_of(static_cast<std::size_t>(any(0, 3000)));
    flight.model.usage = [&](std::int64_t input) -> std::optional<Usage> {
      if (any(0, 9) == 0) return {};
      Usage usage;
      usage.input_tokens = static_cast<std::int64_t>(static_cast<double>(input) * ratio);
      usage.cached_input_tokens = any(0, usage.input_tokens);
      usage.cache_write_input_tokens = any(0, usage.input_tokens - usage.cached_input_tokens);
      usage.output_tokens = any(0, kMaxOutput);
      return usage;
    };

    const LoopResult result = flight.run();

    ended_by_cost += result.kind == "cost" ? 1 : 0;
    const Cost allowed = Cost::usd(limit) + tokens_at(kMaxOutput, price.output);
    BOOST_TEST((flight.budget.cost() <= allowed), flight.budget.cost().exact() << " of " << limit);
  }
  BOOST_TEST(ended_by_cost > 200);
}

BOOST_AUTO_TEST_CASE(estimates_stand_in_for_usage_that_is_missing_and_it_is_said_once) {
  Flight flight({}, {terms(ModelPrice{.input = 1, .output = 1})});
  flight.model.turns = 3;
  flight.model.usage = [](std::int64_t) { return std::nullopt; };

  flight.run();

  const auto responses = flight.events.data_of("model.response");
  BOOST_REQUIRE(responses.size() == 4u);
  for (const Json& each : responses) {
    BOOST_TEST(each["tokens_estimated"].boolean());
    BOOST_TEST(each["tokens"].integer_at("input_tokens") > 0);
    BOOST_TEST(each["cost_usd"].real().value_or(0) > 0);
  }
  BOOST_TEST(flight.budget.tokens() > 0);
  BOOST_TEST(flight.events.data_of("check.hit").size() == 1u);
}

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
