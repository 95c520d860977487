#include "core/agent/answer.h"

#include <boost/test/unit_test.hpp>

#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"
#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const char* const kSchema = R"({"type":"object","additionalProperties":false,
    "required":["verdict","score"],"properties":{"verdict":{"type":"string","enum":["good","bad"]},
    "score":{"type":"number","maximum":10},"more":{"type":"array","items":{"type":"integer"}}}})";
const char* const kGood = R"({"verdict":"good","score":1})";

/// A loop whose agent says these messages, one a turn.
struct Flight {
  explicit Flight(const std::vector<std::string>& messages) {
    for (const auto& message : messages) model.add(response({assistant(message)}));
  }
  LoopResult run() { return run_to_answer(loop, {user("Judge it.")}, &check, events, {}); }

  AnswerCheck check{parse_json(kSchema)};
  FakeClock clock;
  Budget budget{TaskBudget{}, clock};
  ScriptedModel model;
  FakeToolHost tools;
  EventList events;
  Loop loop{{model, tools, events, budget}, ModelSettings{.model = "m", .max_output_tokens = 100}};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(answer)

BOOST_AUTO_TEST_CASE(the_whole_message_has_to_be_json_of_the_schema) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const struct {
    const char* name;
    std::string message;
    std::string finding;
  } rows[] = {
      {"fits", kGood, ""},
      {"blanks around it", " \r\n\t" + std::string(kGood) + "\n\n", ""},
      {"a number with an exponent", R"({"verdict":"bad","score":1e1})", ""},
      {"a letter of two bytes", R"({"verdict":"good","score":1,"more":[]})", ""},
      {"empty", "", "the message is empty"},
      {"blank", " \n", "the message is empty"},
      {"prose", "It is good.", "the message is not JSON"},
      {"prose before it", std::string("Here: ") + kGood, "the message is not JSON"},
      {"prose behind it", std::string(kGood) + "\nDone.", "line 2, column 1"},
      {"a code fence", "```json\n" + std::string(kGood) + "\n```", "Markdown code fence"},
      {"two values", std::string(kGood) + kGood, "the message is not JSON"},
      {"cut off", R"({"verdict":"good","sco)", "the message is not JSON"},
      {"a comment", std::string("// x\n") + kGood, "the message is not JSON"},
      {"a comma at the end", R"({"verdict":"good","score":1,})", "the message is not JSON"},
      {"a byte order mark", "\xEF\xBB\xBF" + std::string(kGood), "the message is not JSON"},
      {"bytes that are no UTF-8", "{\"verdict\":\"\xFF\",\"score\":1}", "the message is not JSON"},
      {"NaN", R"({"verdict":"good","score":NaN})", "the message is not JSON"},
      {"infinity", R"({"verdict":"good","score":-Infinity})", "the message is not JSON"},
      {"a number beyond a double", R"({"verdict":"good","score":-1e999})", "too big"},
      {"a name twice", R"({"verdict":"good","score":1,"score":99})", "duplicate name"},
      {"deep", deep, "nested too deeply"},
      {"long", std::string((4u << 20) + 1, ' '), "longer than 4 MiB"},
      {"null", "null", "wrong type"},
      {"a property missing", R"({"verdict":"good"})", "missing property 'score'"},
      {"a property too many", R"({"verdict":"good","score":1,"x":1})", "unknown property 'x'"},
      {"a value not allowed", R"({"verdict":"fine","score":1})",
       R"(/verdict: not one of the values allowed ("good", "bad"))"},
      {"a value in a list", R"({"verdict":"good","score":1,"more":[1,"2"]})",
       "/more/1: wrong type"},
  };
  const AnswerCheck check{parse_json(kSchema)};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string found = describe(check.check(row.message));

      BOOST_TEST(found.empty() == row.finding.empty(), found);
      BOOST_TEST(found.find(row.finding) != std::string::npos, found);
    }
  }
}

BOOST_AUTO_TEST_CASE(all_findings_are_named) {
  const AnswerCheck check{parse_json(kSchema)};

  const auto findings = check.check(R"({"verdict":"fine","score":11,"x":0})");

  BOOST_TEST(findings.size() == 3u, describe(findings));
}

BOOST_AUTO_TEST_CASE(a_message_that_fits_ends_the_turn_at_once) {
  Flight flight({kGood});

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success));
  BOOST_TEST(flight.events.data_of("check.hit").empty());
}

BOOST_AUTO_TEST_CASE(a_misfit_goes_back_twice_at_most) {
  const std::string misfit = R"({"verdict":"fine","score":1})";
  for (int misfits = 1; misfits <= 3; ++misfits) {
    BOOST_TEST_CONTEXT(misfits << " misfits") {
      std::vector<std::string> messages(static_cast<std::size_t>(misfits), misfit);
      messages.push_back(kGood);
      Flight flight(messages);

      const LoopResult result = flight.run();

      const auto hits = flight.events.data_of("check.hit");
      BOOST_TEST(hits.size() == static_cast<std::size_t>(misfits));
      for (const Json& hit : hits) {
        BOOST_TEST(hit.string_at("check") == "output_schema");
        BOOST_TEST(hit.string_at("saw") ==
                   R"(/verdict: not one of the values allowed ("good", "bad"))");
      }
      if (misfits <= 2) {
        BOOST_TEST((result.code == ExitCode::success));
        BOOST_TEST(flight.loop.last_message() == kGood);
        const auto* feedback = std::get_if<Message>(&flight.model.requests.back().back().content);
        BOOST_REQUIRE(feedback);
        BOOST_TEST((feedback->role == Message::Role::user));
        BOOST_TEST(feedback->text.find(
                       "- /verdict: not one of the values allowed (\"good\", \"bad\")\n") !=
                   std::string::npos);
      } else {
        BOOST_TEST((result.code == ExitCode::task_failed));
        BOOST_TEST(
            result.reason ==
            "the output does not fit its schema: /verdict: not one of the values allowed (\"good\", \"bad\")");
        BOOST_TEST(flight.model.requests.size() == 3u);
        BOOST_TEST(!hits.back()["sent"].is_string());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(each_turn_counts_its_own_misfits) {
  Flight flight({"no", "no", kGood, "no", "no", kGood});

  BOOST_TEST((flight.run().code == ExitCode::success));
  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.model.requests.size() == 6u);
}

BOOST_AUTO_TEST_CASE(what_ends_the_turn_otherwise_is_handed_on) {
  Flight flight({"no"});  // and then no answer is left

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::unavailable));
}

BOOST_AUTO_TEST_CASE(without_a_schema_any_message_will_do) {
  Flight flight({"It is good."});

  const LoopResult result =
      run_to_answer(flight.loop, {user("Judge it.")}, nullptr, flight.events, {});

  BOOST_TEST((result.code == ExitCode::success));
}

BOOST_AUTO_TEST_CASE(a_schema_is_strict_where_it_may_be_and_a_note_says_where_not) {
  const auto task_with = [](const char* schema) {
    Task task;
    task.output.schema = parse_json(schema);
    return task;
  };
  const Task strict =
      task_with(R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
  const Task loose = task_with(kSchema);

  BOOST_TEST(!output_schema_of(Task{}));
  BOOST_TEST(output_schema_of(strict).value().strict);
  BOOST_TEST(!output_schema_of(loose).value().strict);
  BOOST_TEST(write_json(output_schema_of(loose).value().schema) == write_json(parse_json(kSchema)));
  BOOST_TEST(not_strict_note(Task{}) == "");
  BOOST_TEST(not_strict_note(strict) == "");
  BOOST_TEST(not_strict_note(loose).find("#/required: property 'more' is missing") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
