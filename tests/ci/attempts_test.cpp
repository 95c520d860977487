#include "ci/attempts.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace sortie;

namespace {

AttemptEnd passed(int number, std::int64_t lines, int place, std::int64_t files = 1) {
  return {.number = number,
          .status = "success",
          .code = ExitCode::success,
          .files = files,
          .lines = lines,
          .place = place};
}

AttemptEnd failed(int number, const char* status, ExitCode code) {
  return {.number = number, .status = status, .code = code, .reason = "it failed"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attempts)

BOOST_AUTO_TEST_CASE(one_is_picked_by_the_rule_whatever_the_order_of_the_list) {
  const AttemptEnd task = failed(1, "task-failed", ExitCode::task_failed);
  const AttemptEnd budget = failed(2, "budget", ExitCode::budget);
  const AttemptEnd killed = failed(3, AttemptEnd::kKilled, ExitCode::environment);
  const AttemptEnd none = failed(4, AttemptEnd::kNotStarted, ExitCode::budget);
  const AttemptEnd stopped = failed(3, AttemptEnd::kStopped, ExitCode::terminated);
  const struct {
    const char* name;
    Pick rule;
    std::vector<AttemptEnd> attempts;
    int picked;
    const char* why;
  } rows[] = {
      {"the first that passed, not the first one",
       Pick::first_passing,
       {passed(1, 1, 2), passed(2, 9, 1)},
       2,
       "the first that passed"},
      {"the fewest lines",
       Pick::smallest_diff,
       {passed(1, 9, 1), passed(2, 3, 2)},
       2,
       "3 changed lines, the fewest of the 2 that passed"},
      {"then the fewest files",
       Pick::smallest_diff,
       {passed(1, 3, 2, 2), passed(2, 3, 1, 1)},
       2,
       "3 changed lines, the fewest of the 2 that passed"},
      {"then the number, not the time",
       Pick::smallest_diff,
       {passed(2, 3, 1), passed(1, 3, 2), passed(3, 3, 3)},
       1,
       "3 changed lines, the fewest of the 3 that passed"},
      {"a failure is never smaller",
       Pick::smallest_diff,
       {task, passed(2, 1000, 2)},
       2,
       "the only one that passed"},
      {"the nearest to a success",
       Pick::first_passing,
       {budget, task, killed, none},
       1,
       "no attempt passed; this one came nearest"},
      {"a killed one before one that never began",
       Pick::first_passing,
       {none, killed},
       3,
       "no attempt passed; this one came nearest"},
      {"a stopped one never",
       Pick::first_passing,
       {stopped, passed(2, 1, 1)},
       2,
       "the first that passed"},
  };
  for (const auto& row : rows) {
    std::vector<AttemptEnd> list = row.attempts;
    const auto by_number = [](const AttemptEnd& a, const AttemptEnd& b) {
      return a.number < b.number;
    };
    std::sort(list.begin(), list.end(), by_number);
    do {
      BOOST_TEST_CONTEXT(row.name) {
        std::vector<AttemptEnd> ends = list;
        const std::size_t picked = pick_attempt(row.rule, ends);
        BOOST_TEST(ends[picked].number == row.picked);
        BOOST_TEST(ends[picked].why == row.why);
        for (const AttemptEnd& one : ends) {
          BOOST_TEST(one.picked == (one.number == row.picked));
          BOOST_TEST(!one.why.empty());
        }
      }
    } while (std::next_permutation(list.begin(), list.end(), by_number));
  }
}

BOOST_AUTO_TEST_CASE(where_the_operator_stopped_them_one_that_was_stopped_is_shown) {
  std::vector<AttemptEnd> ends = {failed(1, "task-failed", ExitCode::task_failed),
                                  failed(2, "interrupted", ExitCode::interrupted)};
  BOOST_TEST(ends[pick_attempt(Pick::first_passing, ends, ExitCode::interrupted)].number == 2);
}

BOOST_AUTO_TEST_CASE(only_the_names_of_attempts_are_theirs) {
  const std::pair<const char*, int> rows[] = {
      {"attempt-1", 1},  {"attempt-16", 16}, {"attempt-17", 0}, {"attempt-0", 0}, {"attempt-01", 0},
      {"attempt-1x", 0}, {"attempt-", 0},    {"attempt--1", 0}, {"attempt", 0},   {"Attempt-1", 0}};
  for (const auto& [name, number] : rows) BOOST_TEST(attempt_number(name) == number, name);
}

BOOST_AUTO_TEST_CASE(the_digest_of_a_comparison_is_of_all_that_was_added) {
  const auto with = [](const char* member, const Json& value) {
    Json result = Json::object({{"best_of", Json::object({{"picked", 1}})},
                                {"attempts", Json::array()},
                                {"applied", Json()},
                                {"next", "look"},
                                {"reason", "done"}});
    result.set(member, value);
    return comparison_digest(result);
  };
  const std::string before = with("next", "look");
  BOOST_TEST(with("reason", "other") == before);
  for (const char* member : {"best_of", "attempts", "applied", "applied_paths", "next"})
    BOOST_TEST(with(member, true) != before, member);
}

BOOST_AUTO_TEST_CASE(a_result_without_an_end_tells_of_no_attempt) {
  BOOST_TEST(!read_attempt_end(1, Json()));
  BOOST_TEST(!read_attempt_end(1, Json::object({{"status", "running"}})));
  const auto end = read_attempt_end(
      2, parse_json(R"({"status":"budget","exit_code":4,"added_lines":3,"removed_lines":2,)"
                    R"("usage":{"total":{"input_tokens":100,"cached_input_tokens":40,)"
                    R"("output_tokens":5},"cost_usd":null},"verified":null})"));
  BOOST_REQUIRE(end.has_value());
  BOOST_TEST(end->lines == 5);
  BOOST_TEST(end->tokens == 65);
  BOOST_TEST(!end->cost.has_value());
  BOOST_TEST(!end->verified.has_value());
  BOOST_TEST(!end->passed());
}

BOOST_AUTO_TEST_SUITE_END()
