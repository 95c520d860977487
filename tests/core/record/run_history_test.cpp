#include "core/record/run_history.h"

#include <boost/test/unit_test.hpp>

#include <fstream>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/record/transcript.h"
#include "tests/core/record/sample_run.h"
#include "tests/fakes/scripted_model.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

RunEvent started(std::string id) {
  RunStart start;
  start.run_id = std::move(id);
  start.model = start.budget = Json::object();
  return {0, std::move(start)};
}

RunEvent turn_started(int turn) { return {turn, TurnStarted{1, 10, Json::object()}}; }

RunEvent request(int turn, std::size_t first, const std::vector<Item>& items) {
  return model_request_event(
      turn, {.provider = "p", .wire = "responses", .body_sha256 = "x", .first_new_item = first}, 1,
      items);
}

RunEvent answer(int turn, std::vector<Item> items, Usage usage = {}) {
  Response given = response(std::move(items), usage);
  given.raw_usage = Json::object();
  return model_response_event(turn, given, {.cost = Cost::usd(0.5)});
}

RunEvent output(int turn, std::string id, std::string verdict = "") {
  return {turn, ToolOutputRecord{
                    .call_id = std::move(id), .tool = "shell", .output = "o", .verdict = verdict}};
}

RunHistory history_of(const std::vector<RunEvent>& events) {
  HistoryMaker maker;
  for (const RunEvent& event : events) maker.on(event);
  return maker.take();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_history)

BOOST_AUTO_TEST_CASE(a_call_has_what_was_recorded_of_it) {
  const ToolCall one{"c1", "shell", "{}"};
  const ToolCall two{"c2", "shell", "{}"};
  const ToolCall three{"c3", "shell", "{}"};
  const RunHistory history =
      history_of({started("r"), turn_started(1), request(1, 0, {user("go")}),
                  answer(1, {Item{one}, Item{two}, Item{three}}), tool_call_event(1, one),
                  output(1, "c1"), RunEvent{1, FileChange{.path = "x"}}, tool_call_event(1, two),
                  approval_event(1, three, Json::array(), Json::object({{"decision", "allow"}}))});

  BOOST_REQUIRE(history.turns.size() == 1);
  const auto& calls = history.turns[0].calls;
  BOOST_REQUIRE(calls.size() == 3);
  BOOST_TEST((calls[0].called && calls[0].output && calls[0].changes.size() == 1));
  BOOST_TEST((calls[1].called && !calls[1].output));
  BOOST_TEST((calls[2].decided && !calls[2].called));
}

BOOST_AUTO_TEST_CASE(what_was_used_of_the_budget_is_the_sum_over_all_starts) {
  const ToolCall one{"c1", "shell", "{}"};
  HistoryMaker maker;
  const auto zero = std::chrono::system_clock::time_point();
  maker.on(started("r"), zero);
  maker.on(turn_started(1), zero + 1s);
  maker.on(
      answer(1, {Item{one}}, {.input_tokens = 100, .cached_input_tokens = 40, .output_tokens = 5}),
      zero + 2s);
  maker.on(output(1, "c1"), zero + 3s);
  maker.on(turn_started(2), zero + 4s);
  maker.on(started("r"), zero + 1h);
  maker.on(turn_started(2), zero + 1h + 1s);
  maker.on(answer(2, {Item{ToolCall{"c2", "shell", "{}"}}}, {.input_tokens = 10}), zero + 1h + 2s);
  maker.on(output(2, "c2", "not_run"), zero + 1h + 2s);
  const RunHistory history = maker.take();

  BOOST_TEST(
      (history.used ==
       UsedBudget{.turns = 2, .tool_calls = 1, .tokens = 75, .cost = Cost::usd(1), .time = 6s}));
  BOOST_TEST(history.turns.size() == 2u);
  BOOST_TEST(history.starts.size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_items_of_a_request_are_put_together_from_those_before) {
  const RunHistory history = history_of({started("r"), turn_started(1), request(1, 0, {user("go")}),
                                         answer(1, {assistant("a")}), turn_started(2),
                                         request(2, 1, {user("go"), assistant("a"), user("on")}),
                                         answer(2, {assistant("b")}), started("r"), turn_started(3),
                                         request(3, 0, {user("summary"), user("more")})});

  const auto texts = [&](std::size_t turn) {
    std::string all;
    for (const Json* const item : items_sent(history, turn)) all += item->string_at("text") + " ";
    return all;
  };
  BOOST_TEST(texts(0) == "go ");
  BOOST_TEST(texts(1) == "go a on ");
  BOOST_TEST(texts(2) == "summary more ");
}

BOOST_AUTO_TEST_CASE(denials_are_counted_up_to_the_last_call_that_was_allowed) {
  const ToolCall one{"c1", "shell", "{}"};
  const auto decided = [&](const char* word) {
    return approval_event(1, one, Json::array(), Json::object({{"decision", word}}));
  };
  BOOST_TEST(history_of({started("r"), turn_started(1), decided("deny"), output(1, "c1", "denied"),
                         decided("deny"), output(1, "c1", "denied")})
                 .denials_in_a_row == 2);
  BOOST_TEST(history_of({started("r"), turn_started(1), decided("deny"), output(1, "c1", "denied"),
                         decided("allow"), output(1, "c1")})
                 .denials_in_a_row == 0);
}

BOOST_AUTO_TEST_CASE(each_verification_has_its_own_commands) {
  const VerificationRecord a{VerificationPhase::after, 1, "a", {"a"}};
  const VerificationRecord b{VerificationPhase::after, 1, "b", {"b"}};
  const auto done = [](const VerificationRecord& one, bool passed) {
    VerificationCompleted completed{one, {}, "out"};
    completed.passed = passed;
    return RunEvent{1, completed};
  };
  const RunHistory history = history_of({started("r"),
                                         turn_started(1),
                                         {1, a},
                                         done(a, true),
                                         {1, b},
                                         done(b, false),
                                         // Cut off, then run again.
                                         {1, a},
                                         {1, a},
                                         done(a, true),
                                         {1, b},
                                         done(b, true)});

  BOOST_REQUIRE(history.verifications.size() == 3);
  BOOST_TEST(history.verifications[0].completed.size() == 2u);
  BOOST_TEST(!history.verifications[0].passed());
  BOOST_TEST(!history.verifications[1].passed());
  BOOST_TEST(history.verifications[2].passed());
}

BOOST_AUTO_TEST_CASE(a_torn_last_line_is_left_out_and_a_changed_one_refused) {
  TemporaryFolder folder;
  const std::string text(3u << 20, 'x');
  record_run(folder.path(), {started("r"), turn_started(1), request(1, 0, {user(text)})});
  const auto file = folder / kTranscriptName;
  std::filesystem::remove(folder / "changes.diff");
  std::filesystem::remove(folder / "result.json");
  const std::string whole = read_file(file);
  std::ofstream(file, std::ios::app) << R"({"seq":3,"ts":")";

  const RunHistory history = read_run_history(file);
  BOOST_TEST(history.records == 3u);
  BOOST_TEST(history.bytes == whole.size());
  BOOST_TEST(history.torn_bytes == 15u);
  BOOST_TEST(items_sent(history, 0).at(0)->string_at("text") == text);

  std::string changed = whole;
  changed.replace(changed.find("\"items\":1"), 9, "\"items\":2");
  write_file(file, changed);
  BOOST_CHECK_THROW(read_run_history(file), Error);
}

BOOST_AUTO_TEST_CASE(a_timestamp_is_the_time_that_it_was_made_of) {
  for (std::int64_t day = 0; day < 106'000; day += 13) {
    const std::chrono::system_clock::time_point time(std::chrono::hours(24 * day) + 86'399'007ms);
    if (std::string text = utc_timestamp(time); text < "2262")
      BOOST_TEST((time_of_timestamp(text) == time), text);
  }
  for (const char* text :
       {"", "2024", "2024-02-30T00:00:00.000Z", "2024-13-01T00:00:00.000Z",
        "1969-12-31T00:00:00.000Z", "9999-01-01T00:00:00.000Z", "20x4-01-01T00:00:00.000Z"})
    BOOST_TEST((time_of_timestamp(text) == std::chrono::system_clock::time_point()), text);
}

BOOST_AUTO_TEST_SUITE_END()
