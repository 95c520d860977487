// Responses that can't stand as they are: what is sent back, and how often.

#include <boost/test/unit_test.hpp>

#include "tests/core/agent/loop_flight.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A flight whose messages are checked for dangerous words.
struct CheckedFlight : LoopFlight {
  explicit CheckedFlight(TextCheck mode)
      : checks({.missing_paths = TextCheck::off, .dangerous_words = mode},
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

BOOST_AUTO_TEST_SUITE(loop_responses)

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
      LoopFlight flight;
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
  LoopFlight flight;
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

BOOST_AUTO_TEST_CASE(words_that_are_sent_back_come_before_the_calls_of_their_response) {
  CheckedFlight flight(TextCheck::correct);
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
  BOOST_REQUIRE(outputs.size() == 3u);
  for (std::size_t i : {0u, 1u}) BOOST_TEST(outputs[i].string_at("verdict") == "not_run");
  BOOST_TEST(flight.events.data_of("check.hit").at(0).string_at("sent") ==
             correction->text.substr(
                 0, flight.events.data_of("check.hit").at(0).string_at("sent").size()));
}

BOOST_AUTO_TEST_CASE(words_are_sent_back_three_times_in_a_row_at_most) {
  CheckedFlight flight(TextCheck::correct);
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
  CheckedFlight flight(TextCheck::correct);
  flight.model.add(response({assistant("I skipped the failing tests.")}));
  flight.model.add(response({assistant("I mended the cause.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.checked.last_message() == "I mended the cause.");
}

BOOST_AUTO_TEST_CASE(words_that_are_only_warned_of_change_nothing) {
  for (const TextCheck mode : {TextCheck::warn, TextCheck::off}) {
    BOOST_TEST_CONTEXT(name_of(mode)) {
      CheckedFlight flight(mode);
      flight.model.add(response({assistant(kBadWords), call("c1")}));
      flight.model.add(response({assistant("Done.")}));

      BOOST_TEST((flight.run().code == ExitCode::success));

      BOOST_TEST(flight.tools.dispatched.size() == 1u);
      BOOST_TEST(flight.texts().size() == 3u);
      const auto hits = flight.events.data_of("check.hit");
      BOOST_TEST(hits.size() == (mode == TextCheck::warn ? 1u : 0u));
      for (const Json& hit : hits) BOOST_TEST(!hit["sent"].is_string());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_could_not_be_used_is_told_beside_words_that_are_sent_back) {
  CheckedFlight flight(TextCheck::correct);
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

BOOST_AUTO_TEST_CASE(a_message_that_was_cut_off_is_joined_with_its_rest) {
  const struct {
    const char* name;
    bool wants_json;
    std::vector<Response> responses;
    std::string message;
  } rows[] = {
      {"two pieces",
       false,
       {incomplete({assistant("One, t")}), response({assistant("wo.")})},
       "One, two."},
      {"three pieces",
       false,
       {incomplete({assistant("One, t")}), incomplete({assistant("wo, th")}),
        response({assistant("ree.")})},
       "One, two, three."},
      {"the reasoning was cut between",
       false,
       {incomplete({assistant("One, t")}), incomplete({reasoning()}), response({assistant("wo.")})},
       "One, two."},
      {"a call between",
       false,
       {incomplete({assistant("I look f")}), response({call("c1")}),
        response({assistant("Done.")})},
       "Done."},
      {"a call with the cut message",
       false,
       {incomplete({assistant("I look f"), call("c1")}), response({assistant("Done.")})},
       "Done."},
      {"nothing between",
       false,
       {incomplete({assistant("On")}), response({}), response({assistant("Done.")})},
       "Done."},
      {"JSON",
       true,
       {incomplete({assistant("{\"a\":[")}), response({assistant("{}]}")})},
       "{\"a\":[{}]}"},
      {"JSON that begins anew",
       true,
       {incomplete({assistant("{\"a\":[1,2,3")}), response({assistant("{\"a\":[]}")})},
       "{\"a\":[]}"},
      {"JSON that begins anew and is cut again",
       true,
       {incomplete({assistant("{\"a\":[1,2,3")}), incomplete({assistant("{\"a\":")}),
        response({assistant("[]}")})},
       "{\"a\":[]}"},
      {"no JSON in either",
       true,
       {incomplete({assistant("{\"a\":")}), response({assistant("sorry")})},
       "{\"a\":sorry"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LoopFlight flight;
      ModelSettings settings{.model = "m", .max_output_tokens = 100};
      if (row.wants_json)
        settings.output_schema = OutputSchema{.schema = Json::object({{"type", "object"}})};
      Loop loop({flight.model, flight.tools, flight.events, flight.budget}, settings);
      for (const Response& one : row.responses) flight.model.add(one);

      BOOST_TEST((loop.run({user("Do it.")}, {}).code == ExitCode::success));

      BOOST_TEST(loop.last_message() == row.message);
      const auto* asked = std::get_if<Message>(&flight.model.requests[1].back().content);
      if (asked) BOOST_TEST(asked->text.find("the pieces are joined") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_passage_over_and_over_ends_a_run_only_where_it_is_all_that_comes) {
  const auto cut = [](const std::string& passage) {
    Response one = response({assistant("So: " + passage)}, std::nullopt);
    one.stop_reason = kRepetition;
    one.repeated = passage;
    return one;
  };
  // Let through, and cut off at its length limit all the same.
  const auto long_one = [](const std::string& passage) {
    Response one = incomplete({assistant(passage + passage + passage)});
    one.repeated = passage;
    return one;
  };
  const Response done = response({assistant("Done.")});
  const struct {
    const char* name;
    std::vector<Response> responses;
    bool success;
    std::vector<bool> may_repeat;  ///< of each request
  } rows[] = {
      {"told once", {cut("Hm, no. "), done}, true, {false, true}},
      {"again, also begun elsewhere",
       {cut("Hm, no. "), long_one("no. Hm, "), cut("Hm, no. ")},
       false,
       {false, true, false}},
      {"work between",
       {cut("Hm, no. "), long_one("Hm, no. "), response({call("c1")}), cut("Hm, no. "), done},
       true,
       {false, true, false, false, true}},
      {"another passage each time",
       {cut("Hm, no. "), cut("Wait. "), cut("Look: "), done},
       true,
       {false, true, true, true}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LoopFlight flight;
      for (const Response& one : row.responses) flight.model.add(one);

      const LoopResult result = flight.run();

      BOOST_TEST((result.code == (row.success ? ExitCode::success : ExitCode::refused)));
      BOOST_TEST(result.kind == (row.success ? "" : "repetition"));
      BOOST_TEST(flight.model.may_repeat == row.may_repeat, boost::test_tools::per_element());
      BOOST_TEST(flight.calls_are_paired());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_is_text_of_the_message_is_corrected_and_then_made) {
  LoopFlight flight;
  flight.model.add(response({assistant("<tool_call>\n{\"name\": \"shell\"}\n</tool_call>")}));
  flight.model.add(response({call("c1")}));
  flight.model.add(response({assistant("Done: `<tool_call>` is parsed.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.tools.dispatched.size() == 1u);
  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 1u);
  BOOST_TEST(hits[0].string_at("check") == "leaked_call");
  BOOST_TEST(hits[0].string_at("saw").find("<tool_call>") != std::string::npos);
  BOOST_TEST(std::get<Message>(flight.model.requests[1].back().content)
                 .text.find("in the form of Hermes, Qwen and GLM, so no tool was called") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_model_whose_calls_are_always_text_ends_the_run_with_the_servers_fault) {
  LoopFlight flight;
  for (int i = 0; i < 9; ++i)
    flight.model.add(response({assistant("```tool_code\nshell(command=[\"ls\"])\n```")}));

  const LoopResult end = flight.run();

  BOOST_TEST((end.code == ExitCode::refused));
  BOOST_TEST(end.kind == "leaked_call");
  BOOST_TEST(end.reason.find("its server does not parse them") != std::string::npos);
  BOOST_TEST(end.next.find("--tool-call-parser") != std::string::npos);
  BOOST_TEST(flight.model.requests.size() == 4u);
  BOOST_TEST(flight.tools.dispatched.empty());
}

BOOST_AUTO_TEST_CASE(a_call_taken_from_a_message_is_recorded_with_the_message) {
  LoopFlight flight;
  Response leaked = response({assistant("I look."), call("c1")});
  leaked.leaked = "I look.\n<tool_call>…";
  flight.model.add(leaked);
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.tools.dispatched.size() == 1u);
  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 1u);
  BOOST_TEST(hits[0].string_at("saw") == leaked.leaked);
  BOOST_TEST(hits[0].string_at("sent") == "");
}

BOOST_AUTO_TEST_CASE(a_known_secret_in_the_final_message_is_corrected_once) {
  const Redactor redactor(std::vector<Secret>{{"API_KEY", "correct-horse-battery"}});
  LoopFlight flight;
  Loop loop({flight.model, flight.tools, flight.events, flight.budget, nullptr, {}, &redactor},
            ModelSettings{.model = "m", .max_output_tokens = 100});
  const auto run = [&] { return loop.run({user("Do it.")}, {}); };
  const Response leak = response({assistant("The key is correct-horse-battery.")});

  flight.model.add(leak);
  flight.model.add(response({assistant("The key is in API_KEY.")}));
  BOOST_TEST((run().code == ExitCode::success));
  BOOST_TEST(loop.last_message() == "The key is in API_KEY.");
  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 1u);
  BOOST_TEST(hits[0].string_at("check") == "secret_in_message");
  BOOST_TEST(hits[0].string_at("saw") == "the value of API_KEY");
  const std::string sent = std::get<Message>(flight.model.requests.back().back().content).text;
  BOOST_TEST(sent.find("API_KEY") != std::string::npos);
  BOOST_TEST(sent.find("horse") == std::string::npos);

  // What comes of it then is the run's to decide.
  flight.model.add(leak);
  flight.model.add(leak);
  BOOST_TEST((run().code == ExitCode::success));
  BOOST_TEST(loop.last_message() == "The key is correct-horse-battery.");
  BOOST_TEST(flight.model.requests.size() == 4u);
}

BOOST_AUTO_TEST_CASE(the_shape_of_a_token_in_the_final_message_is_recorded) {
  const Redactor redactor;
  LoopFlight flight;
  Loop loop({flight.model, flight.tools, flight.events, flight.budget, nullptr, {}, &redactor},
            ModelSettings{.model = "m", .max_output_tokens = 100});
  flight.model.add(
      response({assistant("Use ghp_0123456789abcdefghijABCDEFGHIJ012345 to log in.")}));

  BOOST_TEST((loop.run({user("Do it.")}, {}).code == ExitCode::success));

  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 1u);
  BOOST_TEST(hits[0].string_at("check") == "secret_in_message");
  BOOST_TEST(hits[0].string_at("saw") == "what looks like a github-token");
}

BOOST_AUTO_TEST_SUITE_END()
